// Outputs that one run saves and another run compares with its own. Python's torch.load reads them too.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const std::string filter = "*Accuracy*/healthy_inference_float32_torchscript_cpu";
const std::string saved_name = "faults+Accuracy.CompiledMatchesEager+healthy_inference_float32_torchscript_cpu.pt";

class SavedOutputs : public testing::Test {
 protected:
  ProgramRun save(const std::string& folder, const std::string& cases = filter) const {
    return torchstone_.run_faults(cases, {"--torchstone_save_outputs=" + folder});
  }
  ProgramRun compare(const std::string& folder, const std::string& cases = filter) const {
    return torchstone_.run_faults(cases, {"--torchstone_compare_outputs=" + folder});
  }
  /// Returns a folder with the marker of saved outputs, in which another file takes the place of the case's outputs.
  std::string with_file(const std::string& name) const {
    const fs::path folder = folder_.path() / (name + "_folder");
    fs::create_directory(folder);
    fs::copy_file(saved() + "/.torchstone_outputs", folder / ".torchstone_outputs");
    fs::copy_file(folder_.path() / name, folder / saved_name);
    return folder;
  }
  std::string saved() const { return folder_.path() / "saved"; }

  TemporaryFolder folder_;
  Torchstone torchstone_;
};

TEST_F(SavedOutputs, AreEqualInAnotherRunAndADifferenceIsRed) {
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which changes the file";
  const ProgramRun first = save(saved());
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  ASSERT_TRUE(fs::exists(saved() + "/" + saved_name));
  const ProgramRun same = compare(saved());
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_EQ(torchstone_.row("/healthy_").at("outcome").at("notes").at("outputs_compared"), saved() + "/" + saved_name);

  const ProgramRun python = run_program({TORCHSTONE_PYTHON, "-c", R"(
import sys, torch
source, folder = sys.argv[1:]
one = torch.load(source, weights_only=True)
one.view(-1)[-1] = torch.nextafter(one.view(-1)[-1], torch.tensor(9.0))
torch.save(one, folder + "/value")
torch.save(one.double(), folder + "/dtype")
torch.save(one[:, :1], folder + "/shape")
)",
                                         saved() + "/" + saved_name, folder_.path()});
  ASSERT_EQ(python.exit_code, 0) << python.err;
  for (const auto& [name, words] : std::map<std::string, std::string>{
           {"value", "the outputs differ from those saved"}, {"dtype", "float64"}, {"shape", "[4, 1]"}}) {
    const ProgramRun red = compare(with_file(name));
    EXPECT_EQ(red.exit_code, 1) << name << red.out << red.err;
    const auto outcome = torchstone_.row("/healthy_").at("outcome");
    EXPECT_EQ(outcome.at("status"), "not_bitwise_equivalent") << name;
    EXPECT_THAT(outcome.at("reason"), HasSubstr(words)) << name;
  }
}

TEST_F(SavedOutputs, ThatAreMissingOrDamagedAreNoPass) {
  ASSERT_EQ(save(saved()).exit_code, 0);
  const std::string other = "*Accuracy*/elementwise_inference_float32_torchscript_cpu";
  const ProgramRun missing = compare(saved(), other);
  EXPECT_EQ(missing.exit_code, 4) << missing.out << missing.err;
  EXPECT_THAT(torchstone_.row("/elementwise_").at("outcome").at("reason"),
              AllOf(HasSubstr("no saved outputs to compare with"), HasSubstr("--torchstone_save_outputs=")));

  const std::string file = saved() + "/" + saved_name;
  fs::resize_file(file, fs::file_size(file) / 2);
  const ProgramRun cut = compare(saved());
  EXPECT_EQ(cut.exit_code, 4) << cut.out << cut.err;
  const auto outcome = torchstone_.row("/healthy_").at("outcome");
  EXPECT_EQ(outcome.at("status"), "fail_accuracy");
  EXPECT_THAT(outcome.at("reason"), AllOf(HasSubstr("the saved outputs cannot be read"), HasSubstr(saved_name)));
}

TEST_F(SavedOutputs, GoIntoAFolderOfTheirOwnAndTouchNothingElse) {
  const std::string foreign = folder_.path();
  std::ofstream(foreign + "/notes.txt") << "mine";
  const ProgramRun refused = save(foreign);
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.err, AllOf(HasSubstr("not a folder of saved outputs"), HasSubstr("notes.txt")));
  EXPECT_THAT(folder_.files(), testing::ElementsAre("notes.txt"));
  EXPECT_EQ(compare(foreign).exit_code, 2);
  EXPECT_EQ(compare(foreign + "/absent").exit_code, 2);

  ASSERT_EQ(save(saved()).exit_code, 0);
  std::ofstream(saved() + "/notes.txt") << "mine";
  const std::string stale =
      saved() + "/faults+Accuracy.CompiledMatchesEager+segfaults_inference_float32_torchscript_cpu.pt";
  std::ofstream(stale) << "of an earlier run";
  EXPECT_EQ(save(saved(), "*Accuracy*/segfaults_inference_float32_torchscript_cpu").exit_code, 4);
  EXPECT_FALSE(fs::exists(stale)) << "a crashed case must not keep outputs of an earlier run";
  EXPECT_TRUE(fs::exists(saved() + "/notes.txt"));
  EXPECT_TRUE(fs::exists(saved() + "/" + saved_name)) << "outputs of a case that did not run must be kept";

  const ProgramRun both = torchstone_.run_faults(
      filter, {"--torchstone_save_outputs=" + saved(), "--torchstone_compare_outputs=" + saved() + "/."});
  EXPECT_EQ(both.exit_code, 2) << both.out << both.err;
  EXPECT_THAT(both.err, HasSubstr("compared with itself"));
}

}  // namespace
}  // namespace torchstone
