// NativeRT in the real program. With a LibTorch that has it, a right program passes and a wrong weight is red. Without
// it, the rows say what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

TEST(NativeRt, PassesAndAWrongWeightIsRedOrTheRowSaysWhatIsMissing) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/healthy_inference_*:*/unchanged_inference_*",
                                               {"--torchstone_checks=accuracy", "--torchstone_dtypes=float32,bfloat16",
                                                "--torchstone_backends=nativert,fault_nativert"});
  const auto outcome_of = [&](const std::string& name) { return torchstone.row(name).at("outcome"); };
  const auto right = outcome_of("/healthy_inference_float32_nativert_");
  if (right.at("status") == "unsupported") {
    EXPECT_THAT(right.at("reason"), HasSubstr("exports no torch::nativert::ModelRunnerHandle"));
    GTEST_SKIP() << right.at("reason");
  }
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(right.at("status"), "pass") << right;
  EXPECT_GT(right.at("metrics").at("artifact_bytes"), 0);
  EXPECT_GE(right.at("metrics").at("converted_nodes"), 3) << "a product, a relu and a sum";
  const auto nothing = outcome_of("/unchanged_inference_float32_nativert_");
  EXPECT_EQ(nothing.at("status"), "not_compiled") << nothing;
  EXPECT_THAT(nothing.at("reason"), HasSubstr("nothing is delegated to"));
  EXPECT_EQ(outcome_of("/healthy_inference_bfloat16_nativert_").at("status"), "pass");
  EXPECT_EQ(outcome_of("/healthy_inference_float32_fault_nativert_").at("status"), "fail_accuracy");
}

}  // namespace
}  // namespace torchstone
