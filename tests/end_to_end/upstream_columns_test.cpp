// What upstream's own columns hold (csv/*.csv), and that its gates judge our results.
#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

ProgramRun gate(const std::string& kind, const std::string& actual, const std::string& expected) {
  return run_program({TORCHSTONE_REPORT, "gate", kind, "--actual", actual, "--expected", expected});
}

TEST(UpstreamsColumns, HoldItsCountersAndItsReadingOfMemory) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(
      "*Performance*/healthy_*fault_none*", {"--torchstone_checks=performance", "--torchstone_backends=fault_none",
                                             "--torchstone_required_speedup=0.001", "--torchstone_measure_budget=0.2"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto metrics = torchstone.row("/healthy_").at("outcome").at("metrics");
  EXPECT_GT(metrics.at("calls_captured"), 0);
  EXPECT_EQ(metrics.at("unique_graphs"), 1);
  for (const char* none : {"graph_breaks", "unique_graph_breaks", "fallbacks_to_eager"})
    EXPECT_EQ(metrics.at(none), 0) << none;
  for (const char* unknown : {"autograd_captures", "autograd_compiles", "cudagraph_skips"})
    EXPECT_FALSE(metrics.contains(unknown)) << unknown;

  constexpr double of_libtorch = 50e6;  // the libraries alone: upstream reads the memory of the whole process
  EXPECT_GT(metrics.at("eager_peak_mem"), of_libtorch);
  EXPECT_GT(metrics.at("dynamo_peak_mem"), of_libtorch);
  EXPECT_LT(metrics.at("eager_peak_bytes"), of_libtorch) << "ours: above what is live";

  const ProgramRun same = gate("graph_breaks", torchstone.out(), torchstone.out());
  EXPECT_EQ(same.exit_code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("green: 1 PASS"));
}

}  // namespace
}  // namespace torchstone
