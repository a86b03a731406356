// Every planted fault is red: checks the status, the reason and the exit code of the real program.
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

struct Fault {
  std::string test_case;  ///< part of the test's name: model and backend
  std::string status;
  std::string reason;  ///< part of it
  int exit_code;
};

void PrintTo(const Fault& fault, std::ostream* stream) { *stream << fault.test_case; }

class PlantedFault : public testing::TestWithParam<Fault> {};

TEST_P(PlantedFault, TurnsItsLightRed) {
  const Fault& fault = GetParam();
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/" + fault.test_case + "_cpu", {"--torchstone_memory_limit=3"});
  EXPECT_EQ(run.exit_code, fault.exit_code) << run.out << run.err;
  const auto row = torchstone.row("/" + fault.test_case + "_");
  EXPECT_EQ(row.at("outcome").at("status"), fault.status) << row.dump(1);
  EXPECT_THAT(row.at("outcome").at("reason").get<std::string>(), HasSubstr(fault.reason));
  EXPECT_THAT(run.out, HasSubstr(fault.status));
}

std::string name_of_fault(const testing::TestParamInfo<Fault>& info) {
  return std::to_string(info.index) + "_" + info.param.test_case;
}

const std::vector<Fault>& compiler_faults() {
  static const std::vector<Fault> faults{
      Fault{"healthy_inference_float32_fault_none", "pass", "", 0},
      Fault{"healthy_inference_float32_fault_weight", "fail_accuracy", "", 1},
      Fault{"two_outputs_inference_float32_fault_swapped", "fail_accuracy", "[0]", 1},
      Fault{"healthy_inference_float32_fault_zero", "fail_accuracy", "", 1},
      Fault{"healthy_inference_float32_fault_dtype", "fail_accuracy", "dtype", 1},
      Fault{"healthy_inference_float32_fault_shape", "fail_accuracy", "shape", 1},
      Fault{"healthy_inference_float32_fault_nan", "fail_accuracy", "NaN", 1},
      Fault{"healthy_inference_float32_fault_eager", "not_compiled", "fault_eager called the model itself", 1},
      Fault{"healthy_inference_float32_fault_eager_copy", "not_compiled",
            "the compiled side ran eager's operators: aten::", 1},
      Fault{"healthy_inference_float32_fault_refused", "fail_to_compile", "planted: the compiler refuses", 1},
      Fault{"healthy_inference_float32_fault_missing", "fail_to_compile", "planted: no compiler", 4},
      Fault{"healthy_inference_float32_fault_killed", "OOM", "SIGKILL", 4}};
  return faults;
}

INSTANTIATE_TEST_SUITE_P(Compiler, PlantedFault, testing::ValuesIn(compiler_faults()), name_of_fault);

INSTANTIATE_TEST_SUITE_P(
    Model, PlantedFault,
    testing::Values(Fault{"segfaults_inference_float32_torchscript", "crash", "SIGSEGV", 4},
                    Fault{"hangs_inference_float32_torchscript", "timeout", "3 s", 4},
                    Fault{"allocates_inference_float32_torchscript", "OOM", "limit 3.00 GB", 4},
                    Fault{"throws_inference_float32_torchscript", "eager_fail_to_run", "planted: forward throws", 1},
                    Fault{"not_loadable_inference_float32_torchscript", "model_fail_to_load", "planted: no weights", 1},
                    Fault{"untraceable_inference_float32_torchscript", "fail_to_capture", "planted: cannot be traced",
                          1},
                    Fault{"branches_inference_float32_torchscript", "fail_to_capture", "", 1},
                    Fault{"zero_output_inference_float32_torchscript", "uninformative", "", 1},
                    Fault{"not_repeatable_inference_float32_torchscript", "eager_two_runs_differ", "", 1}),
    name_of_fault);

const std::vector<Fault>& training_faults() {
  static const std::vector<Fault> faults{
      Fault{"trainable_training_float32_eager", "pass", "", 0},
      Fault{"trainable_training_float32_fault_no_training_fault", "pass", "", 0},
      Fault{"trainable_training_float32_fault_gradient_scaled", "fail_accuracy", "gradients.second.weight", 1},
      Fault{"trainable_training_float32_fault_gradients_swapped", "fail_accuracy", "gradients.first.weight", 1},
      Fault{"trainable_training_float32_fault_gradient_missing", "fail_accuracy", "gradients.norm.weight", 1},
      Fault{"trainable_training_float32_fault_statistics", "fail_accuracy", "buffers.norm.running_mean", 1},
      Fault{"trainable_training_float32_fault_stale_buffer", "fail_accuracy", "buffers.norm.running_mean", 1},
      Fault{"trainable_training_float32_fault_step_skipped", "fail_accuracy", "updates.first.weight", 1},
      Fault{"trainable_training_float32_fault_eager", "not_compiled", "fault_eager called the model itself", 1},
      Fault{"trainable_training_float32_fault_eager_backward", "not_compiled",
            "the compiled side ran eager's operators of the backward: aten::", 1},
      Fault{"trainable_training_float32_fault_mask", "fail_accuracy", "loss", 1},
      Fault{"zero_output_training_float32_torchscript", "uninformative", "loss", 1}};
  return faults;
}

INSTANTIATE_TEST_SUITE_P(Training, PlantedFault, testing::ValuesIn(training_faults()), name_of_fault);

class PlantedFaultsOnCuda : public testing::TestWithParam<const char*> {};

TEST_P(PlantedFaultsOnCuda, TurnTheirLightsRed) {
  const std::string device = GetParam(), place = device == "cuda" ? "_cuda" : "_cuda_1";
  std::vector<Fault> faults = compiler_faults();
  faults.insert(faults.end(), training_faults().begin(), training_faults().end());
  // Training on CUDA drops nothing (fixtures/checks/subject/model_preparation.h), so a wrong mask has no effect.
  std::erase_if(faults, [](const Fault& fault) { return fault.test_case.find("fault_mask") != std::string::npos; });
  std::string filter;
  for (const Fault& fault : faults) filter += "*/" + fault.test_case + place + ":";
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(filter, {"--torchstone_devices=" + device});
  if (run.exit_code == 2 && run.err.find("device " + device + ": ") != std::string::npos) GTEST_SKIP() << run.err;
  for (const Fault& fault : faults) {
    const auto outcome = torchstone.row("/" + fault.test_case + place).at("outcome");
    const std::string reason = outcome.at("reason");
    EXPECT_EQ(outcome.at("status"), fault.status) << fault.test_case << outcome.dump(1);
    EXPECT_THAT(reason, HasSubstr(fault.reason)) << fault.test_case;
  }
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
}

INSTANTIATE_TEST_SUITE_P(Devices, PlantedFaultsOnCuda, testing::Values("cuda", "cuda:1"),
                         [](const auto& test) { return std::string(test.param) == "cuda" ? "First" : "Second"; });

/// No machine has a device cuda:99.
TEST(ADeviceThatIsMissing, IsRefusedBeforeAnythingRuns) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run_faults("*/healthy_inference_float32_torchscript*", {"--torchstone_device=cuda:99"});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("torchstone: --torchstone_devices: device cuda:99: "));
  EXPECT_THAT(run.err, testing::ContainsRegex("built without CUDA|finds no CUDA device|this machine has [0-9]+ CUDA"));
}

TEST(XPU, IsRefusedWithWhatIsSupported) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*", {"--torchstone_device=xpu"});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("'xpu' is not a supported device (expected cpu, cuda or cuda:N)"));
}

TEST(AnErrorWithinTheTolerance, IsRedIfRoundingDoesNotExplainIt) {
  const std::vector<std::string> faults = {"--torchstone_tolerance=0.01",
                                           "--torchstone_backends=fault_none,fault_scaled:factor=1.001"};
  for (const auto& [judge, status] :
       {std::pair{"upstream", "pass"}, {"rounding", "fail_accuracy"}, {"both", "fail_accuracy"}}) {
    const Torchstone torchstone;
    auto arguments = faults;
    arguments.push_back(std::string("--torchstone_judge=") + judge);
    const ProgramRun run = torchstone.run_faults("*/Accuracy.*/healthy_inference_float32_*", arguments);
    EXPECT_EQ(run.exit_code, status == std::string("pass") ? 0 : 1) << run.out << run.err;
    EXPECT_EQ(torchstone.row("_fault_none_").at("outcome").at("status"), "pass") << judge;
    const auto outcome = torchstone.row("_fault_scaled_").at("outcome");
    EXPECT_EQ(outcome.at("status"), status) << outcome.dump(1);
    EXPECT_EQ(outcome.at("metrics").contains("rounding_times"), judge != std::string("upstream"));
    if (status == std::string("pass")) continue;
    EXPECT_THAT(outcome.at("reason").get<std::string>(), HasSubstr("times what rounding explains"));
    EXPECT_THAT(run.out, HasSubstr("× rounding (limit "));
    EXPECT_GT(outcome.at("metrics").at("rounding_times"), 1);
  }
}

TEST(ARowThatIsRightByConstruction, IsExplainedByRounding) {
  for (const char* by : {"threads", "no_onednn"}) {
    const Torchstone torchstone;
    const ProgramRun run =
        torchstone.run_faults("*/Accuracy.*/healthy_inference_float32_*",
                              {"--torchstone_judge=both", std::string("--torchstone_backends=right:by=") + by});
    EXPECT_EQ(run.exit_code, 0) << by << run.out << run.err;
    const auto outcome = torchstone.row("/healthy_").at("outcome");
    EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
    EXPECT_LE(outcome.at("metrics").at("rounding_times"), 1) << by;
  }
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run_faults("*/Accuracy.*/healthy_inference_float32_*", {"--torchstone_backends=right:by=luck"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("expected by=threads, no_onednn, no_cudnn or channels_last"));
}

TEST(AProgramThatRunsForShow, IsUndelegated) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*/healthy_inference_*", {"--torchstone_checks=accuracy", "--torchstone_backends=fault_torchscript_unused"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto outcome = torchstone.row("_fault_torchscript_unused_").at("outcome");
  EXPECT_EQ(outcome.at("status"), "not_compiled") << outcome.dump(1);
  EXPECT_THAT(outcome.at("reason").get<std::string>(), HasSubstr("the compiled side ran eager's operators: aten::"));
  EXPECT_THAT(read_file(torchstone.out() + "/junit.xml"), HasSubstr("<failure type=\"not_compiled\""));
}

TEST(AWrongStepOfAdam, IsSeenThoughItHidesTheSizeOfAGradient) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*/trainable_training_*", {"--torchstone_optimizer=adam", "--torchstone_isolate=shared",
                                 "--torchstone_backends=torchscript,fault_gradient_scaled,fault_step_skipped"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(torchstone.row("_torchscript_").at("outcome").at("status"), "pass");
  for (const auto& [fault, tensor] : {std::pair{"_fault_gradient_scaled_", "output gradients.second.weight"},
                                      {"_fault_step_skipped_", "output gradients.first.weight"}}) {
    const auto outcome = torchstone.row(fault).at("outcome");
    EXPECT_EQ(outcome.at("status"), "fail_accuracy") << outcome.dump(1);
    EXPECT_THAT(outcome.at("reason").get<std::string>(), HasSubstr(tensor));
  }
}

TEST(APartOfABatch, HasToGiveTheSameBits) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run_faults("*/BatchInvariance.*/elementwise_inference_float32_fault_*",
                            {"--torchstone_batch_invariance", "--torchstone_backends=fault_none,fault_batch"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(torchstone.row("_fault_none_").at("outcome").at("status"), "pass");
  EXPECT_EQ(torchstone.row("_fault_none_").at("outcome").at("notes").at("batch_invariance"), "a batch of 4 as of 2, 1");
  const auto wrong = torchstone.row("_fault_batch_").at("outcome");
  EXPECT_EQ(wrong.at("status"), "fail_accuracy") << wrong.dump(1);
  EXPECT_THAT(wrong.at("reason").get<std::string>(), HasSubstr("fail_batch_invariance_at_1: "));
}

TEST(TheLargestBatch, IsFoundByHalvingThoughTheFirstTriesAreKilled) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/holds_few_training_float32_eager_*",
                                               {"--torchstone_find_batch_sizes", "--torchstone_modes=training"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto outcome = torchstone.row("/holds_few_").at("outcome");
  EXPECT_EQ(outcome.at("metrics").at("largest_batch"), 64) << outcome.dump(1);
  EXPECT_EQ(outcome.at("notes").at("batch_sizes_tried"), "1024, 512, 256, 128, 64");
  EXPECT_EQ(read_file(torchstone.out() + "/batch_sizes.txt"), "holds_few,64\n");
}

/// Returns the settings that the backend fault_settings reported in the only row whose name contains `part`.
std::string settings_of(const Torchstone& torchstone, const std::string& part) {
  return torchstone.row(part).at("outcome").at("reason").get<std::string>();
}

TEST(WhatMakesAResultRepeatable, IsSetForAccuracyAlone) {
  const std::string of_accuracy =
      "planted: deterministic=1 cudnn_deterministic=1 mkldnn_deterministic=1 tf32=00 attention=0 workspace=:4096:8";
  const std::string of_timings =
      "planted: deterministic=0 cudnn_deterministic=0 mkldnn_deterministic=0 tf32=11 attention=0 workspace=none";
  for (const std::string isolate : {"shared", "off"}) {
    const Torchstone torchstone;
    torchstone.run_faults("*/healthy_*fault_settings*", {"--torchstone_isolate=" + isolate});
    EXPECT_EQ(settings_of(torchstone, "/Accuracy."), of_accuracy) << isolate;
    EXPECT_EQ(settings_of(torchstone, "/Performance."), of_timings) << isolate;
  }
  const Torchstone torchstone;
  torchstone.run_faults("*Performance*/healthy_*fault_settings*", {"--torchstone_deterministic"});
  EXPECT_EQ(settings_of(torchstone, "/Performance."), of_accuracy);
}

TEST(Limits, TurnASlowCompileAndAHungryProgramRed) {
  const Torchstone torchstone;
  const ProgramRun slow = torchstone.run_faults("*/Accuracy.*/healthy_*torchscript*", {"--torchstone_max_compile_s=0"});
  EXPECT_EQ(slow.exit_code, 1) << slow.out << slow.err;
  EXPECT_EQ(torchstone.row("/healthy_").at("outcome").at("status"), "fail_compile_time");
  EXPECT_THAT(slow.out, AllOf(HasSubstr("the compile took "), HasSubstr("allowed are 0 s (max_compile_s)")));
  const ProgramRun hungry =
      torchstone.run_faults("*Performance*/healthy_*fault_hungry*",
                            {"--torchstone_backends=fault_hungry", "--torchstone_required_speedup=1e-6",
                             "--torchstone_measure_budget=0.2", "--torchstone_max_memory_ratio=1.5"});
  EXPECT_EQ(hungry.exit_code, 1) << hungry.out << hungry.err;
  EXPECT_EQ(torchstone.row("/healthy_").at("outcome").at("status"), "fail_memory");
  EXPECT_THAT(hungry.out, HasSubstr("1.5 times are allowed (max_memory_ratio)"));
}

TEST(ATimedProgram, IsJudgedAgainOnOtherInputs) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run_faults("*Performance*/healthy_inference_*fault_*",
                            {"--torchstone_backends=fault_stale_answer,fault_idle_while_timed,fault_none",
                             "--torchstone_measure_budget=0.2"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  for (const std::string fault : {"fault_stale_answer", "fault_idle_while_timed"}) {
    const auto outcome = torchstone.row("_" + fault + "_").at("outcome");
    EXPECT_EQ(outcome.at("status"), "fail_accuracy") << outcome.dump(1);
    EXPECT_THAT(outcome.at("reason").get<std::string>(),
                testing::StartsWith("right before the timings, wrong after them on other inputs: the output"));
  }
  EXPECT_NE(torchstone.row("_fault_none_").at("outcome").at("status"), "fail_accuracy");
}

TEST(AnAnswerOfTheCallBefore, IsWrongInTheFirstCallOnOtherInputs) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/Accuracy.*/healthy_inference_float32_fault_late_answer_*",
                                               {"--torchstone_backends=fault_late_answer"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto outcome = torchstone.row("/healthy_").at("outcome");
  EXPECT_EQ(outcome.at("status"), "fail_accuracy") << outcome.dump(1);
  EXPECT_THAT(outcome.at("reason").get<std::string>(),
              HasSubstr("on the second one: the output of call 1: not within"));
}

TEST(PlantedSlowDown, IsMissedBySixProcessesTogether) {
  const Torchstone torchstone;
  // A budget of one second can be too short for six processes on a busy machine.
  const ProgramRun run = torchstone.run_faults("*Performance*/healthy_*fault_slow*", {"--torchstone_measure_budget=3"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto row = torchstone.row("/healthy_");
  EXPECT_EQ(row.at("outcome").at("status"), "fail_speedup") << row.dump(1);
  EXPECT_THAT(row.at("outcome").at("reason").get<std::string>(), HasSubstr("required 0.900x"));
  EXPECT_GE(row.at("outcome").at("metrics").at("processes"), 6);
  EXPECT_EQ(row.at("outcome").at("samples").at("process_rounds").size(),
            row.at("outcome").at("metrics").at("processes"));
}

TEST(PlantedFaults, LeaveARowEachWhenOneChildServesThemAll) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/Accuracy.*_torchscript_cpu",
                                               {"--torchstone_memory_limit=3", "--torchstone_isolate=shared"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto results = torchstone.results().at("results");
  EXPECT_EQ(results.size(), 26u);
  EXPECT_EQ(torchstone.row("/healthy_").at("outcome").at("status"), "pass");
  EXPECT_EQ(torchstone.row("/segfaults_").at("outcome").at("status"), "crash");
  EXPECT_EQ(torchstone.row("/not_loadable_").at("outcome").at("status"), "model_fail_to_load");
  for (const std::string trait : {"gives_a_list", "gives_a_dict", "draws_in_evaluation", "counts_its_calls",
                                  "shares_parameters", "takes_int32", "takes_float64", "has_no_parameters"}) {
    EXPECT_EQ(torchstone.row("/" + trait + "_").at("outcome").at("status"), "pass") << trait;
  }
}

TEST(AModelThatKeepsAState, IsTimedFromTheSameStateOnBothSides) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*Performance*/counts_its_calls_*_torchscript_cpu",
      {"--torchstone_backends=torchscript", "--torchstone_required_speedup=0.01", "--torchstone_measure_budget=0.2"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("/counts_its_calls_").at("outcome").at("status"), "pass");
}

TEST(ABatchOfOneOrTwo, IsJudgedAsAnyOther) {
  for (const std::string size : {"1", "2"}) {
    const Torchstone torchstone;
    const ProgramRun run =
        torchstone.run_faults("*/healthy_inference_float32_torchscript_cpu:*/branches_*_torchscript_cpu",
                              {"--torchstone_batch_size=" + size, "--torchstone_isolate=shared"});
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    EXPECT_EQ(torchstone.row("/healthy_").at("outcome").at("status"), "pass");
    EXPECT_EQ(torchstone.row("/healthy_").at("batch_size"), std::stoi(size));
    EXPECT_EQ(torchstone.row("/branches_").at("outcome").at("status"), "fail_to_capture");
  }
}

TEST(TheReproduceLine, WorksWhenPasted) {
  const Torchstone torchstone;
  torchstone.run_faults("*/healthy_inference_float32_fault_zero_cpu");
  const std::string line = torchstone.row("/healthy_").at("reproduce");
  const ProgramRun again = run_program({"/bin/sh", "-c", line});
  EXPECT_EQ(again.exit_code, 1) << line << "\n" << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("fail_accuracy"));
}

TEST(AFilterThatMatchesNothing, IsNotGreen) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--gtest_filter=*no_such_case*"});
  EXPECT_EQ(run.exit_code, 3) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, HasSubstr("no_such_case"));
}

TEST(AnUnknownFlag, IsAUsageErrorThatNamesTheNearest) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_isolat=off"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("torchstone_isolate"));
}

TEST(AResultsFolderThatCannotBeWritten, IsSaidBeforeAnythingRuns) {
  const Torchstone torchstone;
  const std::string file = torchstone.out() + "/occupied";
  std::ofstream(file) << "no folder";  // a file in place of the folder also stops root
  const ProgramRun run =
      torchstone.run({"--torchstone_out=" + file + "/results", "--gtest_filter=*resnet18*torchscript*"});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("occupied"));
}

TEST(AnInterrupt, KeepsTheFinishedRows) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/healthy_*_torchscript_cpu:*/hangs_*_torchscript_cpu",
                                               {"--torchstone_time_limit=60"}, "healthy_inference");
  EXPECT_EQ(run.exit_code, 130) << run.out << run.err;
  EXPECT_EQ(torchstone.row("/healthy_").at("outcome").at("status"), "pass");
  EXPECT_THAT(read_file(torchstone.out() + "/junit.xml"), HasSubstr("healthy_inference_float32_torchscript_cpu"));
}

}  // namespace
}  // namespace torchstone
