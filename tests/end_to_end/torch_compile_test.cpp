// Python's torch.compile as a backend of the real program, with planted faults.
#include <set>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

TEST(TorchCompile, IsJudgedInInferenceAndTraining) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/healthy_inference_*:*/trainable_training_*",
                                               {"--torchstone_backends=torch_compile", "--torchstone_checks=accuracy"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  for (const char* name : {"/healthy_inference_float32_torch_compile", "/trainable_training_float32_torch_compile"}) {
    const auto outcome = torchstone.row(name).at("outcome");
    EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
    const auto metrics = outcome.at("metrics");
    EXPECT_EQ(metrics.at("unique_graphs"), 1) << name;
    EXPECT_GT(metrics.at("calls_captured"), 0) << name;
    for (const char* none : {"graph_breaks", "unique_graph_breaks", "fallbacks_to_eager", "recompiles",
                             "autograd_captures", "autograd_compiles", "cudagraph_skips"})
      EXPECT_EQ(metrics.at(none), 0) << name << " " << none;
  }
}

TEST(TorchCompile, IsTimedByPython) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*/healthy_inference_*",
      {"--torchstone_backends=torch_compile:backend=aot_eager", "--torchstone_checks=performance",
       "--torchstone_required_speedup=0.001", "--torchstone_measure_budget=0.2", "--torchstone_processes=1"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto outcome = torchstone.row("/healthy_").at("outcome");
  EXPECT_THAT(outcome.at("notes").at("timed_by"), HasSubstr("Python's process"));
  EXPECT_GT(outcome.at("metrics").at("speedup_low"), 0);
  EXPECT_FALSE(outcome.at("metrics").contains("compiled_peak_bytes"))
      << "the memory of another process is not measured";
}

TEST(TorchCompile, PlantedFaultsTurnTheirLightsRed) {
  struct Planted {
    std::string model, fault, status, reason, mode = "inference";
  };
  const std::vector<Planted> all{
      {"healthy", "none", "pass", ""},
      {"healthy", "eager", "not_compiled", "was not seen to run: no region of Dynamo's"},
      {"healthy", "for_show", "not_compiled", "the compiled side ran eager's operators: aten::"},
      {"trainable", "none", "pass", "", "training"},
      {"two_outputs", "swapped", "fail_accuracy", "[0]"},
      {"healthy", "silent", "fail_accuracy", "NaN"},
      {"healthy", "wide", "fail_accuracy", "dtype differs: float32 in the reference, float64 in the result"},
      {"healthy", "dies", "fail_to_run",
       "Python ended (signal 11 (Segmentation fault)); the end of its output: planted: the end"}};
  std::string filter;
  std::set<std::string> backends;
  const auto name_of = [](const Planted& planted) {
    return planted.model + "_" + planted.mode + "_float32_fault_torch_compile_" + planted.fault + "_cpu";
  };
  for (const Planted& planted : all) {
    filter += "*/" + name_of(planted) + ":";
    backends.insert("fault_torch_compile_" + planted.fault);
  }
  std::string names;
  for (const auto& backend : backends) names += (names.empty() ? "" : ",") + backend;
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run_faults(filter, {"--torchstone_backends=" + names, "--torchstone_checks=accuracy"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  for (const Planted& planted : all) {
    const auto outcome = torchstone.row("/" + name_of(planted)).at("outcome");
    const std::string text = outcome.at("reason").get<std::string>() + outcome.at("detail").get<std::string>();
    EXPECT_EQ(outcome.at("status"), planted.status) << planted.fault << outcome.dump(1);
    EXPECT_THAT(text, HasSubstr(planted.reason)) << planted.fault;
  }
}

TEST(TorchCompile, SaysWhatAnOptionMayBe) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_backends=torch_compile:mode=max-autotun"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("did you mean max-autotune?"));
}

}  // namespace
}  // namespace torchstone
