#include "cases/flags/without_effect.h"

#include "cases/flags/environment_warnings.h"
#include "tests/environment_variable.h"
#include "tests/unit/cases/support.h"

namespace torchstone::flags {
namespace {

using test::error_of;
using test::flags_of;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal_of(const std::vector<std::string>& arguments) {
  auto flags = flags_of(arguments);
  return error_of([&] { refuse_flags_without_effect(flags); });
}

TEST(AFlagWithoutEffect, IsRefusedWithTheNameOfTheOther) {
  const auto expect_refusal = [](const std::vector<std::string>& arguments, const char* flag, const char* other) {
    EXPECT_THAT(refusal_of(arguments), AllOf(HasSubstr(flag), HasSubstr(other)));
  };
  for (const char* flag : {"--torchstone_tournament_variants=/v.yaml", "--torchstone_tournament_margin=1"})
    expect_refusal({flag}, "--torchstone_tournament_", "--torchstone_tournament");
  expect_refusal({"--torchstone_baseline_history=/h.jsonl"}, "--torchstone_baseline_history", "--torchstone_baseline");
  expect_refusal({"--torchstone_baseline_fail_on=slower"}, "--torchstone_baseline_fail_on", "--torchstone_baseline");
  expect_refusal({"--torchstone_format=json"}, "--torchstone_format", "--torchstone_list");
  expect_refusal({"--torchstone_format=json", "--torchstone_explain=*"}, "--torchstone_format", "--torchstone_list");
  expect_refusal({"--torchstone_list=cases", "--torchstone_explain=*"}, "--torchstone_explain", "--torchstone_list");
  expect_refusal({"--torchstone_inputs=/i.pt"}, "--torchstone_inputs", "--torchstone_only");
  expect_refusal({"--torchstone_inputs=/i.pt", "--torchstone_only=/m.pt2"}, "--torchstone_inputs", "(.pt)");
  expect_refusal({"--torchstone_inputs=/i.pt", "--torchstone_only=resnet18"}, "--torchstone_inputs",
                 "--torchstone_only");
  expect_refusal({"--torchstone_github=always", "--torchstone_report=none"}, "--torchstone_github=always",
                 "--torchstone_report=none");
  expect_refusal({"--torchstone_junit_properties=false", "--torchstone_report=none"}, "--torchstone_junit_properties",
                 "--torchstone_report=none");
  for (const char* flag : {"--torchstone_diagnose_limit=60", "--torchstone_diagnose_max=3"})
    expect_refusal({flag, "--torchstone_diagnose=never"}, "--torchstone_diagnose_", "--torchstone_diagnose=never");
  expect_refusal({"--torchstone_isolate=off", "--torchstone_processes=2"}, "--torchstone_processes",
                 "--torchstone_isolate=off");
  expect_refusal({"--torchstone_isolate=off", "--torchstone_diagnose=always"}, "--torchstone_diagnose=always",
                 "--torchstone_isolate=off");
}

TEST(AFlagWithEffect, IsNotRefused) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--torchstone_tournament", "--torchstone_tournament_variants=/v.yaml", "--torchstone_tournament_margin=1"},
           {"--torchstone_baseline=/b.json", "--torchstone_baseline_history=/h.jsonl"},
           {"--torchstone_format=json", "--torchstone_list=cases"},
           {"--torchstone_format=json", "--torchstone_print_program"},
           {"--torchstone_format=text"},
           {"--torchstone_inputs=/i.pt", "--torchstone_only=/m.pt"},
           {"--torchstone_isolate=off", "--torchstone_processes=1", "--torchstone_diagnose=never"},
           {"--torchstone_github=auto", "--torchstone_report=none"},
           {"--torchstone_junit_properties", "--torchstone_report=none"},
           {"--torchstone_diagnose_limit=300", "--torchstone_diagnose=never"},
           {"--torchstone_diagnose_limit=60", "--torchstone_diagnose_max=3"},
           {"--torchstone_isolate=fresh", "--torchstone_processes=2", "--torchstone_diagnose=always"}})
    EXPECT_EQ(refusal_of(arguments), "");
}

TEST(AnEnvironmentTwinWithoutEffect, IsNoErrorAndInNoReproduction) {
  const EnvironmentVariable margin("TORCHSTONE_TOURNAMENT_MARGIN", "1"), format("TORCHSTONE_FORMAT", "json"),
      processes("TORCHSTONE_PROCESSES", "2"), seed("TORCHSTONE_SEED", "5");
  auto flags = flags_of({"--torchstone_isolate=off"});
  EXPECT_EQ(error_of([&] { refuse_flags_without_effect(flags); }), "");
  EXPECT_THAT(flags.run.arguments,
              AllOf(HasSubstr("seed=5"), HasSubstr("isolate=off"), Not(HasSubstr("margin")), Not(HasSubstr("proc"))));
}

TEST(AFlagForAKindOfCases, IsRefusedWhereNoneIsChosen) {
  const auto refusal = [](const std::string& flag, const Case& c) {
    auto flags = flags_of({flag});
    return error_of([&] { refuse_flags_without_cases(flags, {c}, {"operators"}); });
  };
  Case plain, timed, dynamic, an_operator, recurrent;
  timed.check = "performance";
  dynamic.dynamic = Dynamic::batch;
  an_operator.suite = "operators";
  recurrent.model = "lstm_cudnn";
  for (const auto& [flag, words, c] : {std::tuple{"--torchstone_required_speedup=3", "cases of performance", &timed},
                                       {"--torchstone_dynamic_range=2..8", "--torchstone_dynamic", &dynamic},
                                       {"--torchstone_operator_logs=/l.txt", "operators", &an_operator},
                                       {"--torchstone_max_samples=3", "operators", &an_operator},
                                       {"--torchstone_start_index=3", "operators", &an_operator},
                                       {"--torchstone_layouts=channels_last", "operators", &an_operator},
                                       {"--torchstone_seq_length=7", "fastrnns", &recurrent},
                                       {"--torchstone_layers=2", "fastrnns", &recurrent},
                                       {"--torchstone_input_size=9", "fastrnns", &recurrent},
                                       {"--torchstone_hidden_size=9", "fastrnns", &recurrent}}) {
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    EXPECT_THAT(refusal(flag, plain), AllOf(HasSubstr(name + " is only for"), HasSubstr(words))) << flag;
    EXPECT_EQ(refusal(flag, *c), "") << flag;
  }
  auto flags = flags_of({"--torchstone_required_speedup=3"});
  EXPECT_EQ(error_of([&] { refuse_flags_without_cases(flags, {}, {}); }), "");
}

TEST(AVariableThatIsNearlyATwin, IsWarnedOf) {
  const EnvironmentVariable speedups("TORCHSTONE_REQUIRED_SPEEDUPS", "9"), baseline("TORCHSTONE_BASELNE", "x");
  EXPECT_THAT(environment_warnings(),
              testing::ElementsAre(
                  "unknown variable TORCHSTONE_BASELNE (did you mean TORCHSTONE_BASELINE?)",
                  "unknown variable TORCHSTONE_REQUIRED_SPEEDUPS (did you mean TORCHSTONE_REQUIRED_SPEEDUP?)"));
}

/// Those of the launcher, the build, the compile workers and the tests, too.
TEST(AVariableOfAnotherUse, IsNotWarnedOf) {
  for (const std::string name : {"BASELINE",      "LIBTORCH",      "PYTHON",        "BUILD",
                                 "BUILD_PYTHON",  "LAUNCHED_AS",   "RUN_ID",        "CHILD_PIPES",
                                 "WORKER_IDLE",   "INDUCTOR_LOCK", "OFF_FOLDER",    "EXPORT_TRACEBACK",
                                 "TESTS",         "FAULTS",        "FAULTS_LOCALE", "FUZZ",
                                 "FUZZ_INPUTS",   "FUZZ_SECONDS",  "FUZZ_SEED",     "FUZZ_TARGET",
                                 "LISTENER_DEMO", "MUTATIONS",     "SOAK_CASES",    "TEST_MARK",
                                 "TEST_RESULTS",  "UPDATE_GOLDEN", "WERROR",        "SOMETHING_ELSE_ALTOGETHER"}) {
    const EnvironmentVariable variable("TORCHSTONE_" + name, "1");
    EXPECT_THAT(environment_warnings(), testing::IsEmpty());
  }
}

TEST(AChildProcess, DoesNotWarnAgain) {
  const EnvironmentVariable misspelt("TORCHSTONE_BASELNE", "x"), pipes("TORCHSTONE_CHILD_PIPES", "3,4");
  EXPECT_THAT(environment_warnings(), testing::IsEmpty());
}

}  // namespace
}  // namespace torchstone::flags
