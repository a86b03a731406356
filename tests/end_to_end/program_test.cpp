// Typical command lines: lists, explanations, GoogleTest's own flags, ctest, reports.
#include <filesystem>
#include <fstream>
#include <set>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* const quick_case =
    "torchbench/Accuracy.CompiledMatchesEager/lennard_jones_inference_float32_torchscript_cpu";

TEST(TheProgram, WritesOneRowInEveryReport) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({std::string("--gtest_filter=") + quick_case});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("lennard_jones").at("outcome").at("status"), "pass");
  EXPECT_THAT(read_file(torchstone.out() + "/results.csv"), HasSubstr("lennard_jones"));
  EXPECT_THAT(read_file(torchstone.out() + "/junit.xml"), HasSubstr("lennard_jones_inference_float32_torchscript_cpu"));
  EXPECT_THAT(read_file(torchstone.out() + "/csv/torchscript_torchbench_float32_inference_cpu_accuracy.csv"),
              HasSubstr("cpu,lennard_jones,4,pass"));
  EXPECT_THAT(run.out, HasSubstr("[  PASSED  ] 1 test."));
  EXPECT_THAT(read_file(torchstone.out() + "/report.html"), HasSubstr(std::string("title=\"") + quick_case + "\""));
  EXPECT_THAT(run.out, HasSubstr("results.json"));
  EXPECT_THAT(run.out, HasSubstr("report.html"));
}

TEST(TheProgram, GivesTheSameStatusInEveryIsolation) {
  for (const std::string isolation : {"fresh", "shared", "off"}) {
    const Torchstone torchstone;
    const ProgramRun run =
        torchstone.run({std::string("--gtest_filter=") + quick_case, "--torchstone_isolate=" + isolation});
    EXPECT_EQ(run.exit_code, 0) << isolation << run.out << run.err;
  }
}

TEST(TheProgram, ListsModelsWithTheirFacts) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_list=models", "--torchstone_format=json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::set<std::string> names;
  const auto models = nlohmann::json::parse(run.out);
  for (const auto& model : models) names.insert(model.at("model").get<std::string>());
  for (const char* name : {"alexnet", "vgg16", "resnet18", "resnet50", "squeezenet1_1", "mobilenet_v2", "dcgan",
                           "BertForMaskedLM", "tts_angular", "soft_actor_critic", "lennard_jones", "pytorch_unet"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_THAT(torchstone.run({"--torchstone_list=models"}).out, HasSubstr("61100840"));
}

TEST(TheProgram, ListsBackendsSuitesAndCases) {
  const Torchstone torchstone;
  EXPECT_THAT(torchstone.run({"--torchstone_list=backends"}).out,
              testing::AllOf(HasSubstr("eager"), HasSubstr("torchscript"), HasSubstr("inductor")));
  EXPECT_THAT(torchstone.run({"--torchstone_list=suites"}).out,
              testing::AllOf(HasSubstr("torchbench"), HasSubstr("huggingface")));
  EXPECT_THAT(torchstone.run({"--torchstone_list=cases"}).out, HasSubstr(quick_case));
  EXPECT_THAT(torchstone.run({"--gtest_list_tests"}).out, HasSubstr("lennard_jones_inference_float32_torchscript_cpu"));
}

TEST(TheProgram, ExplainsWhereAToleranceComesFrom) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_explain=*squeezenet1_1_inference_float32_inductor*"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, testing::AllOf(HasSubstr("tolerance"), HasSubstr("torchbench.yaml:")));
}

TEST(TheProgram, ShardsLikeGoogleTest) {
  size_t rows = 0;
  for (const std::string shard : {"0", "1"}) {
    const Torchstone torchstone;
    const ProgramRun run = torchstone.run({"--gtest_filter=*/Accuracy.*lennard_jones_inference*torchscript*"},
                                          {{"GTEST_TOTAL_SHARDS", "2"}, {"GTEST_SHARD_INDEX", shard}});
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    rows += torchstone.results().at("results").size();
  }
  EXPECT_EQ(rows, 2u);  // float32 and bfloat16
}

TEST(Ctest, NamesAndLabelsEveryCase) {
  const ProgramRun all = run_program({TORCHSTONE_CTEST, "--test-dir", TORCHSTONE_BUILD_DIR, "-N"});
  EXPECT_THAT(all.out, HasSubstr(quick_case));
  const ProgramRun labelled =
      run_program({TORCHSTONE_CTEST, "--test-dir", TORCHSTONE_BUILD_DIR, "-N", "-L", "performance"});
  EXPECT_THAT(labelled.out,
              testing::AllOf(HasSubstr("torchbench/Performance."), Not(HasSubstr("torchbench/Accuracy."))));
  const ProgramRun without =
      run_program({TORCHSTONE_CTEST, "--test-dir", TORCHSTONE_BUILD_DIR, "-N", "-L", "accuracy", "-LE", "inductor"});
  EXPECT_THAT(without.out, testing::AllOf(HasSubstr(quick_case), Not(HasSubstr("_inductor_"))));
  const ProgramRun bfloat16 =
      run_program({TORCHSTONE_CTEST, "--test-dir", TORCHSTONE_BUILD_DIR, "-N", "-L", "bfloat16"});
  EXPECT_THAT(bfloat16.out, testing::AllOf(HasSubstr("_bfloat16_"), Not(HasSubstr("_float32_"))));
  const ProgramRun named = run_program({TORCHSTONE_CTEST, "--test-dir", TORCHSTONE_BUILD_DIR, "-N", "-R", "resnet"});
  EXPECT_THAT(named.out, testing::AllOf(HasSubstr("resnet18"), HasSubstr("resnet50"), Not(HasSubstr("alexnet"))));
  EXPECT_THAT(named.out, HasSubstr("torchstone.results.merge"));
}

TEST(Ctest, ListsTheCasesWithoutAFileThatASecondCtestWouldTruncate) {
  const std::filesystem::path file = std::filesystem::path(TORCHSTONE_BUILD_DIR) / "torchstone_cases.ctest";
  std::filesystem::remove(file);
  const ProgramRun run = run_program({TORCHSTONE_CTEST, "--test-dir", TORCHSTONE_BUILD_DIR, "-N"});
  EXPECT_THAT(run.out, HasSubstr(quick_case)) << run.err;
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Ctest, IsNotGreenWhenNothingMatches) {
  const ProgramRun run =
      run_program({TORCHSTONE_CTEST, "--test-dir", TORCHSTONE_BUILD_DIR, "--no-tests=error", "-L", "no_such_label"});
  EXPECT_NE(run.exit_code, 0) << run.out;
}

TEST(TheReportTool, MergesFoldersAndTellsDifferencesByItsExitCode) {
  const Torchstone first, second, merged;
  ASSERT_EQ(first.run({std::string("--gtest_filter=") + quick_case}).exit_code, 0);
  ASSERT_EQ(second.run({"--gtest_filter=*/Accuracy.*soft_actor_critic_inference_float32_torchscript_cpu"}).exit_code,
            0);
  const ProgramRun run = run_program({TORCHSTONE_REPORT, "merge", first.out(), second.out(), "-o", merged.out()});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(merged.results().at("results").size(), 2u);
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "merge", merged.out() + "/none"}).exit_code, 2);
}

TEST(TheReportTool, ComparesFilesOfTorchSave) {
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which makes the files";
  const Torchstone torchstone;
  const std::string a = torchstone.out() + "/a.pt", b = torchstone.out() + "/b.pt",
                    none = torchstone.out() + "/none.pt";
  const ProgramRun made = run_program(
      {TORCHSTONE_PYTHON, "-W", "ignore", "-c",
       "import sys, torch\nx = {'logits': torch.arange(6.).reshape(2, 3), 'past': [(torch.ones(2), None), 3, 'text']}\n"
       "torch.save(x, sys.argv[1])\nx['logits'][1, 2] += 1\ntorch.save(x, sys.argv[2])",
       a, b});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "diff", a, a}).exit_code, 0);
  const ProgramRun different = run_program({TORCHSTONE_REPORT, "diff", a, b});
  EXPECT_EQ(different.exit_code, 1);
  EXPECT_THAT(different.out, HasSubstr("logits"));
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "diff", a, none}).exit_code, 2);
}

}  // namespace
}  // namespace torchstone
