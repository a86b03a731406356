// The backend `openvino` by the program itself: what it passes, what is red, and what it says where it is missing.
#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

bool is_missing(const nlohmann::json& outcome) {
  return outcome.at("status") == "unsupported" &&
         outcome.at("reason").get<std::string>().ends_with("(pip install openvino)");
}

TEST(OpenVinoBackend, PassesAndAWrongWeightIsRed) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*/healthy_inference_*", {"--torchstone_checks=accuracy", "--torchstone_backends=openvino,fault_openvino"});
  const auto right = torchstone.row("/healthy_inference_float32_openvino_").at("outcome");
  if (is_missing(right)) GTEST_SKIP() << right.at("reason");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(right.at("status"), "pass") << right;
  EXPECT_GT(right.at("metrics").at("artifact_bytes"), 0);
  EXPECT_EQ(torchstone.row("/healthy_inference_float32_fault_openvino_").at("outcome").at("status"), "fail_accuracy");
}

/// Its compiled model is of threads that no fork takes along: each process loads its own.
TEST(OpenVinoBackend, IsTimedInSeveralProcesses) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_checks=performance",
                      "--torchstone_modes=inference", "--torchstone_dtypes=float32", "--torchstone_backends=openvino",
                      "--torchstone_measure_budget=0.5", "--gtest_filter=-fastrnns/*"});
  const auto outcome =
      torchstone.row("Performance.CompiledAgainstEager/lennard_jones_inference_float32_openvino_").at("outcome");
  if (is_missing(outcome)) GTEST_SKIP() << outcome.at("reason");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(outcome.at("status"), "pass") << outcome;
  EXPECT_GT(outcome.at("metrics").at("speedup"), 0);
}

TEST(OpenVinoBackend, SaysWhatItDoesNotTake) {
  const Torchstone torchstone;
  const ProgramRun wrong =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_backends=openvino:precision=f8"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("precision=f8: "));
  const ProgramRun training =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy", "--torchstone_modes=training",
                      "--torchstone_dtypes=float32", "--torchstone_backends=openvino"});
  EXPECT_THAT(training.out + training.err, HasSubstr("OpenVINO trains no model"));
}

}  // namespace
}  // namespace torchstone
