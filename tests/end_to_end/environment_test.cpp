// Runs the program in unusual environments: closed standard streams, no permissions, a clock that jumps.
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const char* const healthy = "*/healthy_inference_float32_torchscript_cpu";

/// Runs the program with closed standard streams, as a daemon's parent or a shell's "cmd >&-" does.
class ClosedDescriptors : public testing::TestWithParam<const char*> {};

TEST_P(ClosedDescriptors, MakeNoCaseCrash) {
  const Torchstone torchstone;
  std::vector<std::string> command{"/bin/sh", "-c", std::string("exec \"$0\" \"$@\" ") + GetParam()};
  for (const auto& word : torchstone.faults_command(healthy)) command.push_back(word);
  const ProgramRun run = run_program(command);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("healthy").at("outcome").at("status"), "pass");
}

INSTANTIATE_TEST_SUITE_P(Each, ClosedDescriptors, testing::Values("<&-", ">&-", "2>&-", "<&- >&- 2>&-"),
                         [](const auto& test) { return "case_" + std::to_string(test.index); });

TEST(ClosedDescriptors, AreNoMatterToTheReportToolEither) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "results.json") << "{}";
  const ProgramRun run =
      run_program({"/bin/sh", "-c", "exec \"$0\" csv \"$1\" -o \"$1\" 2>&-", TORCHSTONE_REPORT, folder.path()});
  EXPECT_EQ(run.exit_code, 2);
  std::ifstream file(folder.path() / "results.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "{}");  // no message was written into the file
}

/// Each process's clock goes back by an hour every few readings. Torchstone must not consider the records older than
/// the plan.
TEST(Clock, ThatIsSetBackLosesNoCase) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_program(torchstone.faults_command(
                      "*/healthy_inference_float32_torchscript_cpu:*/throws_inference_float32_torchscript_cpu"),
                  {{"LD_PRELOAD", TORCHSTONE_BACKWARD_CLOCK}});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  fs::remove(fs::path(torchstone.out()) / "results.json");  // as if the program had been killed at the end
  const TemporaryFolder merged;
  const ProgramRun merge = run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.path()});
  EXPECT_EQ(merge.exit_code, 0) << merge.out << merge.err;
  std::map<std::string, std::string> statuses;
  const auto report = nlohmann::json::parse(read_file(merged.path() / "results.json"));
  for (const auto& row : report.at("results")) statuses[row.at("model")] = row.at("outcome").at("status");
  EXPECT_EQ(statuses, (std::map<std::string, std::string>{{"healthy", "pass"}, {"throws", "eager_fail_to_run"}}));
}

/// Runs as a user who owns neither the program, nor its folder, nor the files that it reads.
TEST(Stranger, WithoutRightsInAFolderThatIsNotHisGetsAVerdict) {
  const TemporaryFolder home;
  std::vector<std::string> command = {TORCHSTONE_BINARY,
                                      "--torchstone_suites=" TORCHSTONE_TEST_DIR "/faults",
                                      "--torchstone_plugin=" TORCHSTONE_FAULTS,
                                      "--torchstone_devices=cpu",
                                      "--torchstone_out=" + (home.path() / "results").string(),
                                      std::string("--gtest_filter=") + healthy};
  if (geteuid() == 0) {
    constexpr const char* nobody = "65534";
    if (chown(home.path().c_str(), 65534, 65534) != 0) FAIL() << "cannot change the owner of the folder";
    const std::vector<std::string> as = {"/usr/bin/setpriv", std::string("--reuid=") + nobody,
                                         std::string("--regid=") + nobody, "--clear-groups"};
    const auto reads = [&](const char* file) {
      auto words = as;
      words.insert(words.end(), {"/usr/bin/test", "-r", file});
      return run_program(words).exit_code == 0;
    };
    if (!reads(TORCHSTONE_BINARY)) GTEST_SKIP() << "other users cannot read " TORCHSTONE_BINARY;
    command.insert(command.begin(), as.begin(), as.end());
  }
  const ProgramRun run = run_program(command, {{"HOME", home.path()}});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto results = nlohmann::json::parse(read_file(home.path() / "results/results.json"));
  EXPECT_EQ(results.at("results").at(0).at("outcome").at("status"), "pass");
}

}  // namespace
}  // namespace torchstone
