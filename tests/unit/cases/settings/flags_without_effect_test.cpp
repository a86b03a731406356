#include "cases/settings/case_fields.h"
#include "cases/settings/flags.h"
#include "models/core/model_registry.h"
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
  for (const char* flag : {"--torchstone_tournament_variants=/v.yaml", "--torchstone_tournament_margin=1",
                           "--torchstone_tournament_ship_limit=0"})
    expect_refusal({flag}, "--torchstone_tournament_", "--torchstone_tournament");
  expect_refusal({"--torchstone_baseline_history=/h.jsonl"}, "--torchstone_baseline_history", "--torchstone_baseline");
  expect_refusal({"--torchstone_baseline_other_torch"}, "--torchstone_baseline_other_torch", "--torchstone_baseline");
  expect_refusal({"--torchstone_baseline_fail_on=slower"}, "--torchstone_baseline_fail_on", "--torchstone_baseline");
  expect_refusal({"--torchstone_format=json"}, "--torchstone_format", "--torchstone_list");
  expect_refusal({"--torchstone_format=json", "--torchstone_explain=*"}, "--torchstone_format", "--torchstone_list");
  expect_refusal({"--torchstone_list=cases", "--torchstone_explain=*"}, "--torchstone_explain", "--torchstone_list");
  expect_refusal({"--torchstone_operator_log_folder=/logs"}, "--torchstone_operator_log_folder",
                 "--torchstone_operators_of");
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

TEST(AFlagWithoutEffect, IsRefusedInABuildWithoutDiagnosis) {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    auto flags = flags_of(arguments);
    return error_of([&] { turn_off_diagnosis(flags); });
  };
  for (const char* flag : {"diagnose=always", "diagnose_limit=60", "diagnose_max=3"})
    EXPECT_THAT(refusal({fmt::format("--torchstone_{}", flag)}),
                AllOf(HasSubstr("--torchstone_diagnose"), HasSubstr("this build has no diagnosis")));
  for (const char* word : {"auto", "never"}) {
    auto flags = flags_of({fmt::format("--torchstone_diagnose={}", word)});
    turn_off_diagnosis(flags);
    EXPECT_EQ(flags.run.diagnose, Diagnose::never);
  }
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

/// Accuracy case `plain`, and cases that each differ from it in one way.
struct Chosen {
  Case plain, timed, in_python, dynamic, an_operator, recurrent, training, amp, ranks;
  Chosen() {
    plain.fixed_batch = true;
    timed.check = in_python.check = "performance";
    in_python.backend.name = "torch_compile";
    dynamic.dynamic = Dynamic::batch;
    an_operator.suite = "operators";
    recurrent.model = "lstm_cudnn";
    training.mode = Mode::training;
    amp.dtype = DType::amp;
    ranks.world = 2;
  }
};

std::string refusal_for(const std::string& flag, const std::vector<Case>& cases) {
  auto flags = flags_of({flag});
  flags.facts.operator_suites = {"operators"};
  return error_of([&] { refuse_flags_without_cases(flags, cases); });
}

TEST(AFlagForAKindOfCases, IsRefusedWhereNoneIsChosen) {
  const Chosen chosen;
  Case batch;
  for (const auto& [flag, words, c] :
       {std::tuple{"--torchstone_required_speedup=3", "cases of performance", &chosen.timed},
        {"--torchstone_repeat=5", "cases of performance", &chosen.timed},
        {"--torchstone_rounds=5", "cases of performance", &chosen.timed},
        {"--torchstone_measure_budget=1", "cases of performance", &chosen.timed},
        {"--torchstone_iterations_per_run=2", "cases of performance", &chosen.timed},
        {"--torchstone_randomize_input", "cases of performance", &chosen.timed},
        {"--torchstone_confidence=0.9", "cases of performance", &chosen.timed},
        {"--torchstone_processes=2", "cases of performance", &chosen.timed},
        {"--torchstone_cold_cache", "cases of performance", &chosen.timed},
        {"--torchstone_cuda_graphs=both", "cases of performance", &chosen.timed},
        {"--torchstone_pin_threads=cores", "cases of performance", &chosen.timed},
        {"--torchstone_cold_start_latency", "cases of performance", &chosen.timed},
        {"--torchstone_warm_start_latency", "cases of performance", &chosen.timed},
        {"--torchstone_use_warm_peak_memory", "cases of performance", &chosen.timed},
        {"--torchstone_deterministic", "cases of performance", &chosen.timed},
        {"--torchstone_npy", "cases of performance", &chosen.timed},
        {"--torchstone_export_profiler_trace", "torch_compile", &chosen.timed},
        {"--torchstone_memory_snapshot", "torch_compile", &chosen.timed},
        {"--torchstone_interleave=false", "cases of performance", &chosen.timed},
        {"--torchstone_optimizer=adam", "cases of training", &chosen.training},
        {"--torchstone_use_eval_mode", "cases of training", &chosen.training},
        {"--torchstone_amp_dtype=float16", "dtype amp", &chosen.amp},
        {"--torchstone_parallel=fsdp", "--torchstone_world", &chosen.ranks},
        {"--torchstone_batch_size=3", "batch size is not fixed", &batch},
        {"--torchstone_dynamic_range=2..8", "--torchstone_dynamic", &chosen.dynamic},
        {"--torchstone_operator_logs=/l.txt", "operators", &chosen.an_operator},
        {"--torchstone_operators_of=resnet18", "operators", &chosen.an_operator},
        {"--torchstone_max_samples=3", "operators", &chosen.an_operator},
        {"--torchstone_start_index=3", "operators", &chosen.an_operator},
        {"--torchstone_layouts=channels_last", "operators", &chosen.an_operator},
        {"--torchstone_seq_length=7", "fastrnns", &chosen.recurrent},
        {"--torchstone_layers=2", "fastrnns", &chosen.recurrent},
        {"--torchstone_input_size=9", "fastrnns", &chosen.recurrent},
        {"--torchstone_hidden_size=9", "fastrnns", &chosen.recurrent}}) {
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    EXPECT_THAT(refusal_for(flag, {chosen.plain}), AllOf(HasSubstr(name + " is only for"), HasSubstr(words))) << flag;
    EXPECT_EQ(refusal_for(flag, {*c}), "") << flag;
    EXPECT_EQ(refusal_for(flag, {chosen.plain, *c}), "") << flag << ": one of several cases is enough";
    EXPECT_EQ(refusal_for(flag, {}), "") << flag << ": another check reports that no case is selected";
  }
  for (const char* flag :
       {"--torchstone_save_outputs=/o", "--torchstone_compare_outputs=/o", "--torchstone_judge=both"}) {
    EXPECT_THAT(refusal_for(flag, {chosen.timed}), HasSubstr("cases of accuracy")) << flag;
    EXPECT_EQ(refusal_for(flag, {chosen.plain}), "") << flag;
  }
  for (const char* flag : {"--torchstone_export_profiler_trace", "--torchstone_memory_snapshot"})
    EXPECT_THAT(refusal_for(flag, {chosen.in_python}), HasSubstr("torch_compile")) << flag;
}

TEST(AFlagForAKindOfCases, OfCallsIsNotForCompileTime) {
  Case compiles;
  compiles.check = "compile_time";
  compiles.backend.name = "inductor";
  for (const char* flag : {"--torchstone_rounds=5", "--torchstone_max_memory_ratio=1", "--torchstone_npy"})
    EXPECT_THAT(refusal_for(flag, {compiles}), HasSubstr("cases of performance")) << flag;
  for (const char* flag : {"--torchstone_processes=2", "--torchstone_confidence=0.9", "--torchstone_max_compile_s=9"})
    EXPECT_EQ(refusal_for(flag, {compiles}), "") << flag;
}

TEST(AFlagForAKindOfCases, OfMemoryIsForPythonModulesOnCudaAlone) {
  ModelInfo info;
  info.name = info.family = "python_module_of_a_flag";
  info.python = "path:/net.py,class:Net";
  info.make = [](const ModelOptions&) -> std::shared_ptr<Model> { throw std::logic_error("it runs in Python"); };
  register_model(info, __FILE__, __LINE__);
  const Chosen chosen;
  Case on_cpu = chosen.in_python, on_cuda = chosen.in_python;
  on_cpu.model = on_cuda.model = info.name;
  on_cuda.device = "cuda:1";
  EXPECT_THAT(refusal_for("--torchstone_memory_snapshot", {on_cpu}),
              HasSubstr("and Python modules on CUDA in performance"));
  EXPECT_EQ(refusal_for("--torchstone_memory_snapshot", {on_cpu, on_cuda}), "");
  EXPECT_EQ(refusal_for("--torchstone_memory_snapshot", {on_cpu, chosen.timed}), "");
  on_cuda.check = "accuracy";
  EXPECT_NE(refusal_for("--torchstone_memory_snapshot", {on_cuda}), "");
}

/// Every setting of timing must state that it is for timed cases.
TEST(AFlagForAKindOfCases, IsEveryFlagOfTimingButTheLimits) {
  bool timing = false;
  for (const auto& field : config::case_fields()) {
    timing = timing || field.name == "required_speedup";
    if (!timing || field.name == "time_limit_s" || field.name == "max_compile_s") continue;
    const bool also_of_compiles = field.name == "processes" || field.name == "confidence";
    EXPECT_EQ(field.use.what, (also_of_compiles ? config::timed_cases_and_compiles() : config::timed_cases()).what)
        << field.name;
  }
  EXPECT_TRUE(timing);
}

TEST(AnEnvironmentTwinForNoCase, IsNotedAndInNoReproduction) {
  const EnvironmentVariable repeat("TORCHSTONE_REPEAT", "5"), seed("TORCHSTONE_SEED", "7");
  auto flags = flags_of({});
  refuse_flags_without_cases(flags, {Case{}});
  EXPECT_THAT(flags.unused_twins, testing::ElementsAre("TORCHSTONE_REPEAT"));
  EXPECT_THAT(flags.run.arguments, AllOf(HasSubstr("seed=7"), Not(HasSubstr("repeat"))));
}

TEST(AReproduction, HasOnlyTheFlagsThatItsCaseDependsOn) {
  const Chosen chosen;
  const auto flags = flags_of({"--torchstone_repeat=5", "--torchstone_seed=7"});
  EXPECT_THAT(reproduce_line(flags, chosen.plain), AllOf(HasSubstr("seed=7"), Not(HasSubstr("repeat"))));
  EXPECT_THAT(reproduce_line(flags, chosen.timed), HasSubstr("--torchstone_repeat=5"));
}

TEST(AVariableThatIsNearlyATwin, IsWarnedOf) {
  const EnvironmentVariable speedups("TORCHSTONE_REQUIRED_SPEEDUPS", "9"), baseline("TORCHSTONE_BASELNE", "x");
  EXPECT_THAT(environment_warnings(),
              testing::ElementsAre(
                  "unknown variable TORCHSTONE_BASELNE (did you mean TORCHSTONE_BASELINE?)",
                  "unknown variable TORCHSTONE_REQUIRED_SPEEDUPS (did you mean TORCHSTONE_REQUIRED_SPEEDUP?)"));
}

/// Includes variables of the launcher, the build, the compile workers and the tests.
TEST(AVariableOfAnotherUse, IsNotWarnedOf) {
  for (const std::string name : {"BASELINE",      "LIBTORCH",      "PYTHON",
                                 "BUILD",         "BUILD_PYTHON",  "LAUNCHED_AS",
                                 "RUN_ID",        "CHILD_PIPES",   "WORKER_IDLE",
                                 "INDUCTOR_LOCK", "OFF_FOLDER",    "TESTS",
                                 "FAULTS",        "FAULTS_LOCALE", "FUZZ",
                                 "FUZZ_INPUTS",   "FUZZ_SECONDS",  "FUZZ_SEED",
                                 "FUZZ_TARGET",   "LISTENER_DEMO", "MUTATIONS",
                                 "SOAK_CASES",    "TEST_MARK",     "TEST_RESULTS",
                                 "UPDATE_GOLDEN", "WERROR",        "SOMETHING_ELSE_ALTOGETHER"}) {
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
