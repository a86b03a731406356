// Diagnoses of compiled programs with one wrong node, in the real program.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"
#include "tests/end_to_end/why_section.h"
#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Runs one case of a small model with a planted fault in the node that computes `value`.
ProgramRun run_planted(const Torchstone& torchstone, const std::string& fault, const std::string& mode,
                       const std::vector<std::string>& further = {}, const std::string& model = "lennard_jones",
                       const std::string& value = "v3") {
  std::vector<std::string> arguments{std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS,
                                     "--torchstone_only=" + model,
                                     "--torchstone_checks=accuracy",
                                     "--torchstone_dtypes=float32",
                                     "--torchstone_modes=" + mode,
                                     "--torchstone_backends=fault_program:value=" + value + ",fault=" + fault};
  if (std::ranges::find(further, "--torchstone_diagnose=never") == further.end())
    arguments.emplace_back("--torchstone_diagnose_limit=200");
  arguments.insert(arguments.end(), further.begin(), further.end());
  return torchstone.run(arguments);
}

nlohmann::json diagnosis_of(const Torchstone& torchstone, const std::string& model = "lennard_jones") {
  const auto row = torchstone.row(model);
  const auto file = torchstone.out() + "/" + row.at("outcome").at("notes").at("diagnosis_folder").get<std::string>() +
                    "/diagnosis.json";
  return nlohmann::json::parse(read_file(file));
}

TEST(Diagnosis, NamesTheNodeThatWasPlantedInInferenceAndTheFirstWrongValue) {
  const Torchstone torchstone;
  const ProgramRun run = run_planted(torchstone, "scaled", "inference");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto found = diagnosis_of(torchstone);
  EXPECT_EQ(found["outcome"], "located") << found.dump(1);
  ASSERT_EQ(found["part"].size(), 1U) << found.dump(1);
  EXPECT_EQ(found["part"][0]["value"], "v3");
  EXPECT_NEAR(found["verdict"]["compiled_error"].get<double>(), 0.05, 0.005);
  EXPECT_LT(found["verdict"]["eager_error"].get<double>(), 1e-6);
  EXPECT_GT(found["observed"]["seen"].get<int>(), 1) << found.dump(1);
  EXPECT_THAT(run.out, HasSubstr("  diagnosis: aten::t (v3, in 2) alone is wrong. "));
  EXPECT_THAT(found["reproducer"]["fault"], HasSubstr("right when compiled without this case's backend"));
  const ProgramRun explained = run_program({TORCHSTONE_REPORT, "explain", "lennard_jones", torchstone.out()});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("  located: "));
  EXPECT_THAT(explained.out, HasSubstr("  smallest part      aten::t → v3 float32["));

  const auto record = torchstone.row("lennard_jones").at("outcome").at("diagnosis");
  EXPECT_EQ(record["part"], found["part"]);
  EXPECT_EQ(record["verdict"]["worst"], found["verdict"]["worst"]);
  EXPECT_EQ(record["observed"]["value"], found["observed"]["value"]);
  expect_why(torchstone.out() + "/report.html");
  const TemporaryFolder elsewhere;
  const std::string page = elsewhere.path() / "deep" / "page.html", merged = elsewhere.path() / "merged";
  ASSERT_EQ(run_program({TORCHSTONE_REPORT, "html", torchstone.out(), "-o", page}).exit_code, 0);
  expect_why(page);
  ASSERT_EQ(run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged}).exit_code, 0);
  expect_why(merged + "/report.html");
  ASSERT_EQ(run_program({TORCHSTONE_REPORT, "html", merged, "-o", page}).exit_code, 0);
  expect_why(page);
  fs::remove_all(torchstone.out() + "/diagnosis");
  ASSERT_EQ(run_program({TORCHSTONE_REPORT, "html", torchstone.out(), "-o", page}).exit_code, 0);
  EXPECT_THAT(why_section(page).text, HasSubstr("Its files are not in this results folder."));
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "explain", "no_such_case", torchstone.out()}).exit_code, 3);
}

TEST(Diagnosis, NamesTheNodeWhoseGradientIsWrongInTraining) {
  const Torchstone torchstone;
  run_planted(torchstone, "negated", "training");
  const auto found = diagnosis_of(torchstone);
  EXPECT_EQ(found["outcome"], "located") << found.dump(1);
  ASSERT_EQ(found["part"].size(), 1U) << found.dump(1);
  EXPECT_EQ(found["part"][0]["value"], "v3");
}

TEST(Diagnosis, NamesTheNodeThatTheCompilerRefuses) {
  const Torchstone torchstone;
  const ProgramRun run = run_planted(torchstone, "refused", "inference");
  const auto found = diagnosis_of(torchstone);
  EXPECT_EQ(found["status"], "fail_to_compile");
  ASSERT_EQ(found["part"].size(), 1U) << found.dump(1);
  EXPECT_EQ(found["part"][0]["value"], "v3");
}

TEST(Diagnosis, BlamesTheToolchainIfTheCompilerRefusesAnOption) {
  const TemporaryFolder folder;
  const std::string compiler = folder.path() / "refusing-g++";
  std::ofstream(compiler) << R"(#!/bin/sh
case "$*" in *.cpp*) echo "g++: error: unrecognized command-line option '-mavx999'" >&2; exit 1;; esac
exec g++ "$@"
)";
  fs::permissions(compiler, fs::perms::owner_all);
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy", "--torchstone_dtypes=float32",
                      "--torchstone_modes=inference", "--torchstone_backends=inductor"},
                     {{"CXX", compiler}});
  const auto found = diagnosis_of(torchstone);
  EXPECT_EQ(found["status"], "fail_to_compile") << run.out << run.err;
  EXPECT_EQ(found["outcome"], "unknown") << found.dump(1);
  EXPECT_EQ(found["trials"], 1) << "a toolchain fault makes trials of parts useless";
  EXPECT_FALSE(found.contains("part")) << found.dump(1);
  EXPECT_THAT(run.out, HasSubstr("the C++ compiler refuses the option -mavx999: a fault of the toolchain"));
  for (const auto& entry : fs::recursive_directory_iterator(torchstone.out() + "/diagnosis"))
    EXPECT_NE(entry.path().filename(), "issue.md");
}

TEST(Diagnosis, NamesNothingOfAHealthyModelAndIsNotMadeWhereItIsNotWanted) {
  const Torchstone healthy;
  const std::vector<std::string> inductor{"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy",
                                          "--torchstone_dtypes=float32",     "--torchstone_modes=inference",
                                          "--torchstone_backends=inductor",  "--torchstone_diagnose=always"};
  EXPECT_EQ(healthy.run(inductor).exit_code, 0);
  EXPECT_EQ(healthy.row("lennard_jones").at("outcome").at("notes").at("diagnosis_outcome"), "healthy");
  const Torchstone never;
  run_planted(never, "scaled", "inference", {"--torchstone_diagnose=never"});
  EXPECT_FALSE(never.row("lennard_jones").at("outcome").at("notes").contains("diagnosis"));
  EXPECT_FALSE(fs::exists(never.out() + "/diagnosis"));
}

TEST(Diagnosis, NamesTheSourceLineOfAnExportedProgram) {
  const Torchstone torchstone;
  const ProgramRun run = run_planted(torchstone, "scaled", "inference", {},
                                     TORCHSTONE_TEST_DIR "/oracles/exported/torch213/plain.pt2", "v0");
  EXPECT_THAT(run.out, HasSubstr("write_exported.py:"));
  EXPECT_THAT(diagnosis_of(torchstone, "plain")["part"][0].value("source", ""), HasSubstr("write_exported.py:"));
}

TEST(Diagnosis, NamesTheOperatorThatNarrowsARangeAndThePatchThatKeepsIt) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({"--torchstone_only=dcgan", "--torchstone_checks=accuracy", "--torchstone_dtypes=float32",
                      "--torchstone_modes=inference", "--torchstone_backends=inductor", "--torchstone_dynamic=batch"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto found = diagnosis_of(torchstone, "dcgan");
  EXPECT_EQ(found["status"], "fail_to_run");
  EXPECT_EQ(found["outcome"], "located") << found.dump(1);
  ASSERT_EQ(found["part"].size(), 1U) << found.dump(1);
  EXPECT_THAT(found["part"][0].value("operation", ""), HasSubstr("conv2d"));
  EXPECT_EQ(found["part"][0].value("module", ""), "main.11");
  EXPECT_EQ(found["range"][0]["kept"], nlohmann::json({2, 15}));
  EXPECT_EQ(found["guilty"]["name"], "convolution_batch_range");
  const auto range = torchstone.row("dcgan")["outcome"]["diagnosis"]["range"][0];
  EXPECT_EQ(range["kept"], found["range"][0]["kept"]);
  EXPECT_EQ(range["kept_by"], "convolution_batch_range");
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("the compiler narrows batch from 2 to 64 to 2 to 15"),
                                      HasSubstr("right with the patch `convolution_batch_range`")));
}

TEST(Diagnosis, NamesTheNodeOfAWrongAnswerAtSomeSizesAndWhetherASizeAloneIsWrong) {
  const auto ranges = [](const Torchstone& torchstone, const std::string& fault,
                         const std::string& mode = "inference") {
    const ProgramRun run =
        run_planted(torchstone, fault, mode, {"--torchstone_dynamic=batch", "--torchstone_dynamic_range=2..15"});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    return diagnosis_of(torchstone);
  };
  const Torchstone alone, together, trained;
  const auto both = ranges(alone, "scaled");
  EXPECT_EQ(both["outcome"], "located") << both.dump(1);
  ASSERT_EQ(both["part"].size(), 1U) << both.dump(1);
  EXPECT_EQ(both["part"][0]["value"], "v3");
  EXPECT_THAT(both["sentence"], HasSubstr("batch 2, also when compiled for these sizes alone: aten::t (v3, in 2)"));
  const auto sized = ranges(together, "sized");
  EXPECT_EQ(sized["outcome"], "located") << sized.dump(1);
  EXPECT_EQ(sized["observed"]["value"], "v3") << sized.dump(1);
  EXPECT_EQ(sized["sizes"]["batch"], 2);
  EXPECT_THAT(sized["sentence"], HasSubstr("the program compiled for these sizes alone is right"));
  EXPECT_EQ(together.row("lennard_jones")["outcome"]["diagnosis"]["sizes"]["batch"], 2);
  const auto step = ranges(trained, "sized", "training");
  EXPECT_EQ(step["outcome"], "narrowed") << step.dump(1);
  EXPECT_THAT(step["sentence"], HasSubstr("the program compiled for these sizes alone is right"));
}

TEST(Diagnosis, NamesNothingOfAHealthyModelWhoseStatisticsArePartOfTheProgramForRanges) {
  const Torchstone healthy;
  const ProgramRun run =
      healthy.run({"--torchstone_only=dcgan", "--torchstone_checks=accuracy", "--torchstone_dtypes=float32",
                   "--torchstone_modes=inference", "--torchstone_backends=inductor:freezing=true",
                   "--torchstone_dynamic=batch", "--torchstone_dynamic_range=2..8", "--torchstone_diagnose=always"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(healthy.row("dcgan").at("outcome").at("notes").at("diagnosis_outcome"), "healthy");
}

TEST(Diagnosis, IsMadeOfSoManyCasesAndTheOthersSayWhyNot) {
  const Torchstone torchstone;
  const ProgramRun run = run_planted(torchstone, "refused", "inference,training",
                                     {"--torchstone_diagnose_max=1", "--torchstone_diagnose_limit=1"});
  size_t diagnosed = 0, excluded = 0;
  const auto results = torchstone.results();
  for (const auto& row : results.at("results")) {
    const auto& notes = row.at("outcome").at("notes");
    diagnosed += notes.contains("diagnosis_outcome");
    excluded += notes.value("diagnosis", std::string()).starts_with("not diagnosed: as many cases as ");
  }
  EXPECT_EQ(diagnosed, 1U) << run.out;
  EXPECT_EQ(excluded, 1U) << run.out;
  EXPECT_THAT(run.err, HasSubstr("further ones say so in the reports alone"));
  EXPECT_THAT(why_section(torchstone.out() + "/report.html").text, HasSubstr("1 case left out"));
}

}  // namespace
}  // namespace torchstone
