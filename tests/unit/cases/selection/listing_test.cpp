#include "cases/selection/listing.h"

#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cases/settings/case_fields.h"
#include "cases/settings/flags.h"
#include "cases/settings/policy.h"
#include "tests/unit/cases/support.h"

namespace torchstone::listing {
namespace {

using test::error_of;
using test::fake_known;
using test::flags_of;
using testing::HasSubstr;

struct Program {
  test::Folder folder;
  std::vector<suite::Suite> suites;
  Program() {
    folder.write("p.yaml", "skip: {all: [second]}\ntolerance: {higher_bf16: [first]}\n");
    suites =
        suite::read_suites(folder.write("s.yaml",
                                        "suite: small\npolicy: p.yaml\nmatrix:\n  - {checks: [accuracy, performance], "
                                        "dtypes: [bfloat16], backends: [inductor], time_limit: 20.5}\nmodels:\n  - "
                                        "first: {expected: fail_accuracy, reason: issue 12}\n  - second\n"));
  }
  std::string list(std::vector<std::string> arguments) const {
    const flags::Flags flags = flags_of(std::move(arguments));
    return listing(flags, suites, expand(suites, fake_known(), flags), fake_known(),
                   [](const ModelInfo& info) { return info.eval_batch * 1000; });
  }
};

TEST(Listing, AlignsColumns) {
  EXPECT_EQ(to_text(Table{{"a", "long"}, {{"wide cell", 1}, {"x", nullptr}}}),
            "a          long\nwide cell  1\nx          -\n");
}

TEST(Listing, OfModelsCountsTheMiniPresetThroughTheProgram) {
  EXPECT_EQ(Program().list({"--torchstone_list=models"}),
            "model     family           suites  train_batch  eval_batch  parameters_full  parameters_mini\n"
            "first     first_family     small   16           8           -                8000\n"
            "second    second_family    small   64           4           -                4000\n"
            "third.v2  third.v2_family  small   4            1           -                1000\n");
}

TEST(Listing, OfModelsFollowsSuiteAndOnly) {
  Program program;
  program.suites.push_back(suite::read_suites(program.folder.write(
      "other.yaml", "suite: other\nmatrix:\n  - {checks: [accuracy], backends: [eager]}\nmodels: [third.v2]\n"))[0]);
  const auto names = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--torchstone_list=models", "--torchstone_format=json"});
    std::vector<std::string> listed;
    for (const auto& model : nlohmann::json::parse(program.list(arguments))) listed.push_back(model.at("model"));
    return listed;
  };
  EXPECT_THAT(names({}), testing::ElementsAre("first", "second", "third.v2"));
  EXPECT_THAT(names({"--torchstone_suite=small"}), testing::ElementsAre("first", "second"));
  EXPECT_THAT(names({"--torchstone_suite=other"}), testing::ElementsAre("third.v2"));
  EXPECT_THAT(names({"--torchstone_only=second"}), testing::ElementsAre("second"));
}

TEST(Listing, OfBackendsSuitesAndSkipped) {
  const Program program;
  EXPECT_EQ(program.list({"--torchstone_list=backends"}), "backend\neager\ninductor\ntorchscript\n");
  const auto suites = nlohmann::json::parse(program.list({"--torchstone_list=suites", "--torchstone_format=json"}));
  ASSERT_EQ(suites.size(), 1U);
  EXPECT_EQ(suites[0]["accuracy"], 1);
  EXPECT_EQ(suites[0]["tolerance"], 0);
  EXPECT_EQ(suites[0]["models"], 2);
  const auto skipped = nlohmann::json::parse(program.list({"--torchstone_list=skipped", "--torchstone_format=json"}));
  ASSERT_EQ(skipped.size(), 2U);
  EXPECT_EQ(skipped[0]["reason"], "not run anywhere (policy skip.all)");
  EXPECT_THAT(skipped[0]["origin"].get<std::string>(), testing::EndsWith("p.yaml:1"));
}

TEST(Listing, OfCasesInJsonHoldsEveryFieldAndItsOrigin) {
  const auto cases = nlohmann::json::parse(Program().list({"--torchstone_list=cases", "--torchstone_format=json"}));
  ASSERT_EQ(cases.size(), 2U);
  EXPECT_EQ(cases[0]["name"], "small/Accuracy.CompiledMatchesEager/first_inference_bfloat16_inductor_cpu");
  EXPECT_EQ(cases[0]["tolerance"], 1e-2);
  EXPECT_EQ(cases[0]["required_speedup"], nullptr);
  EXPECT_EQ(cases[0]["line"], 6);
  EXPECT_EQ(cases[0]["timed"], false);
  EXPECT_EQ(cases[1]["timed"], true);
  EXPECT_THAT(cases[0]["origin"]["tolerance"].get<std::string>(),
              testing::EndsWith("p.yaml:2 (tolerance.higher_bf16)"));
  EXPECT_THAT(Program().list({"--torchstone_list=cases"}),
              HasSubstr("small/Performance.CompiledAgainstEager/first_inference_bfloat16_inductor_cpu  4"));
}

TEST(Listing, OfFlagsHasThreeFormats) {
  EXPECT_THAT(Program().list({"--torchstone_list=flags"}), HasSubstr("TORCHSTONE_CACHE_LIMIT"));
  EXPECT_EQ(nlohmann::json::parse(Program().list({"--torchstone_list=flags", "--torchstone_format=json"})).size(),
            flags::flag_table().size());
  EXPECT_EQ(Program().list({"--torchstone_list=flags", "--torchstone_format=markdown"}), reference_page());
}

TEST(Listing, RefusesAFormatThatTheListHasNot) {
  EXPECT_EQ(error_of([] {
              Program().list({"--torchstone_list=models", "--torchstone_format=ctest"});
            }),
            "--torchstone_format=ctest is only for --torchstone_list=cases and gpus");
  EXPECT_EQ(error_of([] {
              Program().list({"--torchstone_list=cases", "--torchstone_format=markdown"});
            }),
            "--torchstone_format=markdown is only for --torchstone_list=flags");
}

TEST(CtestScript, RegistersEachCaseWithLabelsLimitsAndFixture) {
  EXPECT_EQ(Program().list({"--torchstone_list=cases", "--torchstone_format=ctest", "--torchstone_out=/r]=]s",
                            "--torchstone_compile_limit=100"}),
            "add_test([=[small/Accuracy.CompiledMatchesEager/first_inference_bfloat16_inductor_cpu]=] "
            "[=[/opt/torchstone]=] [=[--torchstone_compile_limit=100]=] [==[--torchstone_out=/r]=]s]==] "
            "[=[--torchstone_report=none]=] "
            "[=[--gtest_filter=small/Accuracy.CompiledMatchesEager/first_inference_bfloat16_inductor_cpu]=])\n"
            "set_tests_properties([=[small/Accuracy.CompiledMatchesEager/first_inference_bfloat16_inductor_cpu]=] "
            "PROPERTIES LABELS "
            "[=[accuracy;small;inference;bfloat16;inductor;cpu;mini;first_family]=] TIMEOUT 481 FIXTURES_REQUIRED "
            "torchstone_results ENVIRONMENT OMP_WAIT_POLICY=passive)\n"
            "add_test([=[small/Performance.CompiledAgainstEager/first_inference_bfloat16_inductor_cpu]=] "
            "[=[/opt/torchstone]=] [=[--torchstone_compile_limit=100]=] [==[--torchstone_out=/r]=]s]==] "
            "[=[--torchstone_report=none]=] "
            "[=[--gtest_filter=small/Performance.CompiledAgainstEager/first_inference_bfloat16_inductor_cpu]=])\n"
            "set_tests_properties([=[small/Performance.CompiledAgainstEager/first_inference_bfloat16_inductor_cpu]=] "
            "PROPERTIES LABELS "
            "[=[performance;small;inference;bfloat16;inductor;cpu;mini;first_family]=] TIMEOUT 481 FIXTURES_REQUIRED "
            "torchstone_results RUN_SERIAL TRUE)\n");
}

TEST(CtestScript, AsksForGpusOfAResourceFile) {
  const std::string script =
      Program().list({"--torchstone_list=cases", "--torchstone_format=ctest", "--torchstone_device=cuda"});
  EXPECT_THAT(script,
              HasSubstr("torchstone_results ENVIRONMENT OMP_WAIT_POLICY=passive RESOURCE_GROUPS [[1,gpus:1]])"));
  EXPECT_THAT(script, HasSubstr("torchstone_results RUN_SERIAL TRUE RESOURCE_GROUPS [[1,gpus:4]])"));
  EXPECT_THAT(Program().list({"--torchstone_list=cases", "--torchstone_format=ctest", "--torchstone_device=cuda:1"}),
              testing::Not(HasSubstr("RESOURCE_GROUPS")))
      << "the device cuda:1 already selects a GPU";
}

TEST(Explanation, NamesTheLineBehindEachField) {
  const Program program;
  const selection::Expansion expansion = expand(program.suites, fake_known(), flags_of({"--torchstone_seed=3"}));
  const std::string text = explanation(expansion.cases, "*Accuracy*");
  EXPECT_THAT(text, testing::ContainsRegex("  tolerance +0.01 +[^ ]*p.yaml:2 .tolerance.higher_bf16."));
  EXPECT_THAT(text, testing::ContainsRegex("  time_limit_s +20.5 +[^ ]*s.yaml:4\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  seed +3 +flag --torchstone_seed=3\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  confidence +0.95 +default\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  expected because +issue 12 "));
  EXPECT_THAT(text, testing::Not(HasSubstr("Performance.")));
  EXPECT_THROW(explanation(expansion.cases, "*none*"), selection::NothingSelected);
}

TEST(Explanation, HasEveryFieldThatAnOriginNames) {
  const Program program;
  for (const auto& c : expand(program.suites, fake_known(), flags_of({})).cases)
    for (const auto& [field, origin] : c.origin) {
      if (field == "expected_reason") continue;
      const auto fields = fields_of(c);
      EXPECT_TRUE(std::any_of(fields.begin(), fields.end(), [&, &name = field](const auto& entry) {
        return entry.first == name;
      })) << field;
    }
}

TEST(ReferencePage, IsDocsFlagsMd) {
  std::ifstream file(TORCHSTONE_SOURCE_DIR "/docs/flags.md");
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, reference_page())
      << "docs/flags.md differs from the output of the program. Update it with:\n"
         "  torchstone --torchstone_list=flags --torchstone_format=markdown > docs/flags.md";
}

TEST(ReferencePage, HasEveryFlagFieldAndPolicyKey) {
  const std::string page = reference_page();
  for (const auto& flag : flags::flag_table()) {
    EXPECT_THAT(page, HasSubstr(fmt::format("| `--torchstone_{}`", flag.name)));
    EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", environment_name(flag))));
  }
  for (const auto& field : config::case_fields()) EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", field.name)));
  for (const auto& key : policy::policy_schema()) EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", key.path)));
}

TEST(ReferencePage, StatesRangeDefaultAndMeaningOfAField) {
  EXPECT_THAT(
      reference_page(),
      HasSubstr("\n| `time_limit_s` | `time_limit` | `--torchstone_time_limit` | `SECONDS`, 1 to 86400 | 300 | time "
                "limit of one case |\n"));
  EXPECT_THAT(
      reference_page(),
      HasSubstr("\n| `--torchstone_npy` or `--torchstone_dump_raw_metrics` | `TORCHSTONE_NPY` | `BOOL` | false |"));
  EXPECT_THAT(reference_page(), HasSubstr("`none\\|sgd\\|adam`"));
}

}  // namespace
}  // namespace torchstone::listing
