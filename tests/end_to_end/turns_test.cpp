// Timed cases of one run take turns, process by process.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::ElementsAre;

/// The numbers of the two cases' last records; a case's first record is written when it begins.
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
    EXPECT_GT(row.at("duration_s"), 0.0) << "its own time, though another test waited for it";
    numbers.push_back(row.at("origin").at("sequence"));
  }
  return numbers;
}

TEST(TimedCases, TakeTurnsUnlessTheyAreAskedNotTo) {
  EXPECT_THAT(numbers_of_records("true"), ElementsAre(3, 4)) << "both had begun before one ended";
  EXPECT_THAT(numbers_of_records("false"), ElementsAre(2, 4));
}

}  // namespace
}  // namespace torchstone
