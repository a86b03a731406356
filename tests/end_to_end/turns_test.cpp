// The timed cases of a run are interleaved: each runs one process at a time in turn.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Times two cases and returns the sequence numbers of their last records. Each case writes a first record when it
/// begins and a last one when it ends.
std::vector<int> numbers_of_records(const std::string& interleave) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(
      {"--torchstone_checks=performance", "--torchstone_modes=inference", "--torchstone_dtypes=float32",
       "--torchstone_backends=torchscript", "--torchstone_matrix=full",
       "--gtest_filter=torchbench/*/lennard_jones_*:torchbench/*/soft_actor_critic_*", "--torchstone_processes=2",
       "--torchstone_rounds=5", "--torchstone_measure_budget=0.2", "--torchstone_interleave=" + interleave});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::vector<int> numbers;
  const auto results = torchstone.results();
  for (const auto& row : results.at("results")) {
    EXPECT_EQ(row.at("outcome").at("metrics").at("processes"), 2) << row.dump(1);
    EXPECT_GT(row.at("duration_s"), 0.0) << "the case's own duration, although cases are interleaved";
    numbers.push_back(row.at("origin").at("sequence"));
  }
  return numbers;
}

TEST(TimedCases, TakeTurnsUnlessTheyAreAskedNotTo) {
  EXPECT_THAT(numbers_of_records("true"), ElementsAre(3, 4)) << "both cases must begin before either ends";
  EXPECT_THAT(numbers_of_records("false"), ElementsAre(2, 4));
}

/// Times `model`, which misbehaves in its second process, together with a healthy model.
ProgramRun time_with_healthy(const Torchstone& torchstone, const std::string& model,
                             const std::string& interrupt_when = "") {
  const TemporaryFolder folder;
  return torchstone.run({std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS,
                         std::string("--torchstone_suites=") + TORCHSTONE_SOURCE_DIR + "/tests/faults/timed_later.yaml",
                         "--torchstone_processes=3", "--torchstone_rounds=5", "--torchstone_measure_budget=0.2",
                         "--torchstone_heartbeat=1", "--gtest_filter=*/" + model + "_inference*:*/healthy_inference*"},
                        {{"TORCHSTONE_TEST_MARK", folder.path() / "mark"}}, interrupt_when);
}

TEST(TimedCases, OneThatCrashesInALaterProcessLeavesTheOthersTheirTurns) {
  const Torchstone torchstone;
  const ProgramRun run = time_with_healthy(torchstone, "crashes_later");
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  const auto outcome = torchstone.row("/crashes_later_").at("outcome");
  EXPECT_EQ(outcome.at("status"), "crash");
  EXPECT_THAT(outcome.at("reason"), HasSubstr("in process 2, which times the case once more: crashed with SIGSEGV"));
  EXPECT_FALSE(outcome.at("metrics").contains("speedup"));
  const auto healthy = torchstone.row("/healthy_").at("outcome");
  EXPECT_EQ(healthy.at("status"), "pass");
  EXPECT_EQ(healthy.at("metrics").at("processes"), 3);
}

TEST(TimedCases, CtrlCAmongTheirTurnsEndsTheRunWithARowForEach) {
  const Torchstone torchstone;
  const ProgramRun run = time_with_healthy(torchstone, "hangs_later", "one of 2 interleaved cases");
  EXPECT_EQ(run.exit_code, 130) << run.out << run.err;
  EXPECT_EQ(torchstone.row("/hangs_later_").at("outcome").at("status"), "interrupted");
  const auto rows = torchstone.results();
  EXPECT_EQ(rows.at("results").size(), 2U);
}

}  // namespace
}  // namespace torchstone
