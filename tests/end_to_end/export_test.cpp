// The backend `export` in the real program: what passes, and that the check for hidden eager code catches a fake.
#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

nlohmann::json outcome_of(const Torchstone& torchstone, const std::string& part) {
  return torchstone.row(part).at("outcome");
}

TEST(TheExportBackend, PassesInBothModesAndIsRedWhenItIsRunForShow) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run_faults("*/healthy_*:*/trainable_training_float32_export_*",
                            {"--torchstone_checks=accuracy", "--torchstone_backends=export,fault_export_unused",
                             "--torchstone_time_limit=300"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(outcome_of(torchstone, "/healthy_inference_float32_export_").at("status"), "pass");
  EXPECT_EQ(outcome_of(torchstone, "/trainable_training_float32_export_").at("status"), "pass");
  const auto unused = outcome_of(torchstone, "/healthy_inference_float32_fault_export_unused_");
  EXPECT_EQ(unused.at("status"), "not_compiled");
  EXPECT_THAT(unused.at("reason").get<std::string>(), HasSubstr("the compiled side ran eager's operators: aten::"));
}

/// For a model from a .pt2 file, eager runs an exported program too. The two programs must not be confused.
TEST(TheExportBackend, IsToldFromThatOfAnExportedModel) {
  const Torchstone torchstone;
  const std::string file = std::string(TORCHSTONE_SOURCE_DIR) + "/tests/oracles/exported/torch213/two.pt2";
  const ProgramRun run =
      torchstone.run({"--torchstone_only=" + file, "--torchstone_checks=accuracy", "--torchstone_modes=inference",
                      "--torchstone_dtypes=float32", "--torchstone_backends=export"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(outcome_of(torchstone, "_export_").at("status"), "pass");
}

}  // namespace
}  // namespace torchstone
