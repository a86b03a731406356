// Backends that Torchstone knows by name and cannot run: an unsupported row with its reason, and nothing is green.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

TEST(MissingCompilers, AreUnsupportedRowsAndAloneTheyJudgeNothing) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_suite=torchbench", "--torchstone_only=lennard_jones",
                                         "--torchstone_checks=accuracy", "--torchstone_modes=inference",
                                         "--torchstone_dtypes=float32", "--torchstone_backends=tensorrt,xla"});
  EXPECT_EQ(run.exit_code, 3) << run.out << run.err;
  for (const char* name : {"tensorrt", "xla"}) {
    const auto outcome = torchstone.row(std::string("/lennard_jones_inference_float32_") + name + "_cpu").at("outcome");
    EXPECT_EQ(outcome.at("status"), "unsupported") << outcome.dump(1);
    EXPECT_THAT(outcome.at("reason").get<std::string>(), HasSubstr(std::string(name) + ": Torchstone has no lowering"));
  }
}

}  // namespace
}  // namespace torchstone
