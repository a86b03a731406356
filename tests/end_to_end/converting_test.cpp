// Backends that convert programs for other projects' runtimes: what passes, what is red, and the message if one is
// missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

bool is_missing(const nlohmann::json& outcome) {
  return outcome.at("status") == "unsupported" &&
         outcome.at("reason").get<std::string>().find("(pip install ") != std::string::npos;
}

class ConvertingBackend : public testing::TestWithParam<std::string> {
 protected:
  nlohmann::json outcome_of(const std::string& part) const { return torchstone_.row(part).at("outcome"); }
  Torchstone torchstone_;
};

TEST_P(ConvertingBackend, PassesAndAWrongWeightIsRed) {
  const ProgramRun run = torchstone_.run_faults(
      "*/healthy_inference_*:*/unchanged_inference_*",
      {"--torchstone_checks=accuracy", "--torchstone_backends=" + GetParam() + ",fault_" + GetParam()});
  const auto right = outcome_of("/healthy_inference_float32_" + GetParam() + "_");
  if (is_missing(right)) GTEST_SKIP() << right.at("reason");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(right.at("status"), "pass") << right;
  EXPECT_GT(right.at("metrics").at("artifact_bytes"), 0);
  EXPECT_GE(right.at("metrics").at("converted_nodes"), 3) << "a product, a relu and a sum";
  EXPECT_GE(right.at("metrics").at("delegated_nodes"), 1) << "the library may fuse the three operators";
  const auto nothing = outcome_of("/unchanged_inference_float32_" + GetParam() + "_");
  EXPECT_EQ(nothing.at("status"), "not_compiled") << nothing;
  EXPECT_THAT(nothing.at("reason"), HasSubstr("nothing is delegated to "));
  EXPECT_EQ(outcome_of("/healthy_inference_float32_fault_" + GetParam() + "_").at("status"), "fail_accuracy");
}

/// Each timing process has to load the library itself, because a fork does not inherit the library's threads.
TEST_P(ConvertingBackend, IsTimedInSeveralProcesses) {
  const ProgramRun run = torchstone_.run({"--torchstone_only=lennard_jones", "--torchstone_checks=performance",
                                          "--torchstone_modes=inference", "--torchstone_dtypes=float32",
                                          "--torchstone_backends=" + GetParam(), "--torchstone_measure_budget=0.5",
                                          "--torchstone_threads=2", "--gtest_filter=-fastrnns/*"});
  const auto outcome = outcome_of("Performance.CompiledAgainstEager/lennard_jones_inference_float32_" + GetParam());
  if (is_missing(outcome)) GTEST_SKIP() << outcome.at("reason");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(outcome.at("status"), "pass") << outcome;
  EXPECT_GT(outcome.at("metrics").at("speedup"), 0);
  const std::string settled = outcome.at("notes").value("settled", "");
  if (GetParam() == "executorch")
    EXPECT_EQ(settled, "") << "ExecuTorch's threads sleep immediately";
  else
    EXPECT_THAT(settled, HasSubstr("the threads of " + GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Of, ConvertingBackend, testing::Values("openvino", "onnxruntime", "executorch"),
                         [](const auto& tested) { return tested.param; });

TEST(ConvertingBackends, SayWhatTheyDoNotTake) {
  const Torchstone torchstone;
  const ProgramRun wrong =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_backends=openvino:precision=f8"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("precision=f8: "));
  const ProgramRun training =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy", "--torchstone_modes=training",
                      "--torchstone_dtypes=float32", "--torchstone_backends=onnxruntime"});
  EXPECT_THAT(training.out + training.err, HasSubstr("onnxruntime has no training"));
}

}  // namespace
}  // namespace torchstone
