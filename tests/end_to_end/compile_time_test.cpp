// The check compile_time in the real program: it compiles several times, and a baseline compares the results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

const std::vector<std::string> one_case{"--torchstone_checks=compile_time", "--torchstone_only=lennard_jones",
                                        "--torchstone_modes=inference", "--torchstone_dtypes=float32",
                                        "--torchstone_processes=2"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), one_case.begin(), one_case.end());
  return more;
}

TEST(CompileTime, IsMeasuredWithEmptyAndWithWarmCaches) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(with({"--torchstone_backends=inductor"}));
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto outcome = torchstone.row("/CompileTime.").at("outcome");
  const auto& metrics = outcome.at("metrics");
  EXPECT_EQ(metrics.at("processes"), 2);
  EXPECT_EQ(outcome.at("samples").at("cold_compile_cpu_s").size(), 2U);
  EXPECT_GT(metrics.at("warm_compile_cpu_s"), 0);
  EXPECT_GT(metrics.at("warm_inductor_cpu_s"), 0);
  EXPECT_GE(metrics.at("cold_compile_cpu_s").get<double>(),
            metrics.at("cold_export_cpu_s").get<double>() + metrics.at("cold_inductor_cpu_s").get<double>() - 0.1);
  EXPECT_THAT(run.out, HasSubstr(", warm "));
  const ProgramRun same = run_program({TORCHSTONE_REPORT, "compare", torchstone.out(), torchstone.out(), "--all"});
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("cold_compile_cpu_s"));
}

TEST(CompileTime, IsNotMeasuredOfABackendThatCompilesInItsProcess) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(with({"--torchstone_backends=torchscript"}));
  EXPECT_EQ(torchstone.row("/CompileTime.").at("outcome").at("status"), "unsupported") << run.out << run.err;
}

}  // namespace
}  // namespace torchstone
