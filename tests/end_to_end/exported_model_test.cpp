// Exported programs as models: the committed archives of tests/oracles/exported.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"
#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string archive(const std::string& name) {
  return std::string(TORCHSTONE_SOURCE_DIR) + "/tests/oracles/exported/torch213/" + name;
}

std::string only(const std::string& name) { return "--torchstone_only=" + archive(name); }

/// Returns "mode dtype" of each row that passed.
std::set<std::string> passed(const std::string& name, const std::string& dtypes) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({only(name), "--torchstone_checks=accuracy",
                                         "--torchstone_backends=torchscript", "--torchstone_dtypes=" + dtypes});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::set<std::string> passed;
  const auto rows = torchstone.results().at("results");
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("suite"), "own");
    if (row.at("outcome").at("status") == "pass")
      passed.insert(row.at("mode").get<std::string>() + " " + row.at("dtype").get<std::string>());
  }
  return passed;
}

TEST(AnExportedProgram, IsJudgedInBothModesAndInHalfPrecision) {
  EXPECT_THAT(passed("two.pt2", "float32,amp"),
              testing::UnorderedElementsAre("inference float32", "training float32", "inference amp", "training amp"));
  EXPECT_THAT(passed("plain.pt2", "bfloat16"),
              testing::UnorderedElementsAre("inference bfloat16", "training bfloat16"));
}

TEST(AnExportedProgram, IsCompiledByInductorAndTrained) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({only("plain.pt2"), "--torchstone_checks=accuracy", "--torchstone_backends=inductor"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto rows = torchstone.results().at("results");
  EXPECT_EQ(rows.size(), 2u) << "inference and training";
  for (const auto& row : rows) EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
}

TEST(AnExportedProgram, IsCompiledOnceForAccuracyAndPerformance) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({only("plain.pt2"), "--torchstone_checks=accuracy,performance", "--torchstone_repeat=2",
                      "--torchstone_backends=inductor", "--torchstone_modes=inference"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto rows = torchstone.results().at("results");
  ASSERT_EQ(rows.size(), 2u) << rows.dump(1);
  const auto metrics_of = [&](size_t row) { return rows.at(row).at("outcome").at("metrics"); };
  for (const char* of_package : {"compile_s", "artifact_bytes"})
    EXPECT_EQ(metrics_of(0).at(of_package), metrics_of(1).at(of_package)) << of_package;
}

TEST(AnExportedProgram, OfSymbolicSizesIsCompiledOnceForAllOfThem) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({only("texts.pt2"), "--torchstone_checks=accuracy", "--torchstone_dynamic=all",
                                         "--torchstone_backends=inductor", "--torchstone_modes=inference"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto row = torchstone.results().at("results").at(0);
  EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
  const auto notes = row.at("outcome").at("notes");
  EXPECT_THAT(notes.at("dynamic_range").get<std::string>(), testing::MatchesRegex("batch 2 to 64, s[0-9]+ 2 to 30"));
  EXPECT_THAT(
      notes.at("dynamic_refused").get<std::string>(),
      testing::MatchesRegex("a s[0-9]+ of 1, a s[0-9]+ of 31, .*; not tried, because the model itself has no such "
                            "inputs: .*a batch of 65"))
      << "the archive has no inputs for batch sizes outside its exported range";
}

TEST(AnExportedProgram, OfADynamicLengthAloneIsJudgedAtLengths) {
  const Torchstone torchstone;
  const auto run = [&](const std::string& name, const std::string& dynamic) {
    return torchstone.run({only(name), "--torchstone_checks=accuracy", "--torchstone_backends=eager",
                           "--torchstone_modes=inference", "--torchstone_dynamic=" + dynamic});
  };
  const ProgramRun all = run("length.pt2", "all");
  EXPECT_EQ(all.exit_code, 0) << all.out << all.err;
  const auto outcome = torchstone.results().at("results").at(0).at("outcome");
  EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
  EXPECT_THAT(outcome.at("notes").at("dynamic_range").get<std::string>(), testing::MatchesRegex("s[0-9]+ 2 to 30"));
  EXPECT_EQ(outcome.at("metrics").at("dynamic_sizes"), 7);
  const ProgramRun batch = run("length.pt2", "batch"), none = run("plain.pt2", "all");
  EXPECT_EQ(batch.exit_code, 3);
  EXPECT_THAT(batch.err, HasSubstr("its batch size is fixed; --torchstone_dynamic=all varies its other sizes"));
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("its batch size is fixed, and it declares no other dynamic size"));
}

TEST(AnExportedProgram, WithOutputsOtherThanPythonsIsNotJudged) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({only("other_outputs.pt2"), "--torchstone_checks=accuracy",
                                         "--torchstone_backends=torchscript", "--torchstone_modes=inference"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto outcome = torchstone.results().at("results").at(0).at("outcome");
  EXPECT_EQ(outcome.at("status"), "model_fail_to_load");
  EXPECT_THAT(outcome.at("reason"), HasSubstr("output 0 differs from the one that the exporter stored"));
}

TEST(AnExportedProgram, OfEvalModeIsNotTrainedAndSaysWhatToDo) {
  const Torchstone torchstone;
  torchstone.run({only("eval.pt2"), "--torchstone_checks=accuracy", "--torchstone_backends=torchscript",
                  "--torchstone_modes=training"});
  const auto outcome = torchstone.results().at("results").at(0).at("outcome");
  EXPECT_EQ(outcome.at("status"), "unsupported") << outcome.dump(1);
  EXPECT_THAT(outcome.at("reason"),
              AllOf(HasSubstr("exported in eval mode"), HasSubstr("export model.train() as well")));
}

/// Expects that every row of a file that cannot be read has this reason.
void expect_refused(const std::string& file, const testing::Matcher<std::string>& reason) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_only=" + file, "--torchstone_checks=accuracy"});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  const auto rows = torchstone.results().at("results");
  EXPECT_GE(rows.size(), 2u) << "torchscript and inductor";
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("outcome").at("status"), "model_fail_to_load");
    EXPECT_THAT(row.at("outcome").at("reason").get<std::string>(), reason);
  }
}

TEST(AnExportedProgram, ThatCannotBeRunIsARowWithThePlaceInThePythonSource) {
  expect_refused(archive("nonzero.pt2"),
                 AllOf(HasSubstr("nonzero.pt2: models/model.json: "), HasSubstr("write_exported.py:"),
                       HasSubstr("depends on the values of tensors")));
}

TEST(AnExportedProgram, OfAnotherKindOfFileIsARowThatNamesIt) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "renamed.pt2").string();
  std::ofstream(path) << "no zip file";
  expect_refused(path, HasSubstr("renamed.pt2: not a zip archive"));
}

TEST(AnExportedProgram, ThatIsNotThereIsAnError) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_only=/nowhere/missing.pt2"});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("/nowhere/missing.pt2"));
}

}  // namespace
}  // namespace torchstone
