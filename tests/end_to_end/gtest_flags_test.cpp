// GoogleTest's flags and variables: which ones the program supports and which it refuses.
#include <map>
#include <vector>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const char* const three_cases = "*zero_output_*_torchscript_*:*healthy_*_torchscript_*:*not_repeatable_*_torchscript_*";

TEST(FailFast, LeavesOutWhatFollowsAFailure) {
  const Torchstone torchstone, merged;
  const ProgramRun run = torchstone.run_faults(three_cases, {"--gtest_fail_fast"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  size_t excluded = 0;
  const auto rows = torchstone.results().at("results");
  for (const auto& row : rows) {
    if (row.at("outcome").at("reason") != "not run: --gtest_fail_fast") continue;
    EXPECT_EQ(row.at("outcome").at("status"), "pass_due_to_skip");
    ++excluded;
  }
  EXPECT_GT(excluded, 0u) << rows.dump(1);
  const std::string junit = read_file(torchstone.out() + "/junit.xml");
  EXPECT_THAT(junit, AllOf(HasSubstr("<skipped"), HasSubstr("errors=\"0\"")));

  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.out()}).exit_code, 0);
  EXPECT_EQ(merged.results().at("results").size(), rows.size());
  const ProgramRun without = torchstone.run_faults(three_cases, {"--gtest_fail_fast", "--torchstone_report=none"});
  EXPECT_EQ(without.exit_code, 1) << without.out << without.err;
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.out()}).exit_code, 0)
      << "merge must work with the case records alone";
}

TEST(ThrowOnFailure, IsRefusedBecauseNoReportWouldBeWritten) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults(three_cases, {"--gtest_throw_on_failure"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("--gtest_throw_on_failure"));
}

TEST(Shards, WithVariablesThatMakeNoSenseAreAUsageError) {
  const Torchstone torchstone;
  const char *const total = "GTEST_TOTAL_SHARDS", *const index = "GTEST_SHARD_INDEX";
  for (const std::map<std::string, std::string>& variables : std::vector<std::map<std::string, std::string>>{
           {{total, "2"}, {index, "5"}}, {{total, "x"}, {index, "0"}}, {{total, "2"}}, {{index, "0"}}}) {
    const ProgramRun run = torchstone.run({"--gtest_filter=*lennard_jones*"}, variables);
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_THAT(run.err, AllOf(HasSubstr("torchstone: "), HasSubstr(total), HasSubstr(index)));
  }
}

TEST(ATournament, RefusesWhatGoogleTestWouldNotDo) {
  const Torchstone torchstone;
  for (const std::string flag : {"--gtest_output=xml:x.xml", "--gtest_repeat=2"}) {
    const ProgramRun run = torchstone.run({"--torchstone_tournament", "--torchstone_only=lennard_jones", flag});
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_THAT(run.err, HasSubstr("does not go with " + flag.substr(0, flag.find('='))));
  }
  const ProgramRun shards = torchstone.run({"--torchstone_tournament", "--torchstone_only=lennard_jones"},
                                           {{"GTEST_TOTAL_SHARDS", "2"}, {"GTEST_SHARD_INDEX", "0"}});
  EXPECT_EQ(shards.exit_code, 2) << shards.out;
  EXPECT_THAT(shards.err, HasSubstr("does not go with GTEST_TOTAL_SHARDS=2"));
}

TEST(AMisspeltVariable, IsWarnedOfOnce) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_list=backends"}, {{"TORCHSTONE_REQUIRED_SPEEDUPS", "9"}});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err,
            "warning: unknown variable TORCHSTONE_REQUIRED_SPEEDUPS (did you mean TORCHSTONE_REQUIRED_SPEEDUP?)\n");
}

TEST(AFlagWithoutEffect, IsAUsageError) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(
      {"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy", "--torchstone_required_speedup=3"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("--torchstone_required_speedup is only for cases of performance"));
  EXPECT_EQ(torchstone.run({"--torchstone_list=cases", "--torchstone_explain=*"}).exit_code, 2);
  const std::vector<std::string> repeated{
      "--torchstone_only=lennard_jones", "--torchstone_backends=eager", "--torchstone_checks=accuracy,performance",
      "--torchstone_modes=inference",    "--torchstone_dtypes=float32", "--torchstone_repeat=3",
      "--gtest_filter=*/Accuracy.*"};
  const ProgramRun filtered = torchstone.run(repeated);
  EXPECT_EQ(filtered.exit_code, 2) << "the filter selects no timed case: " << filtered.out;
  EXPECT_THAT(filtered.err, HasSubstr("--torchstone_repeat is only for cases of performance"));
}

TEST(ATwinWithoutEffect, IsNotedAndTheRunGoesOn) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({"--torchstone_only=lennard_jones", "--torchstone_backends=eager", "--torchstone_checks=accuracy",
                      "--torchstone_modes=inference", "--torchstone_dtypes=float32"},
                     {{"TORCHSTONE_REPEAT", "3"}});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("note: no case of this run depends on TORCHSTONE_REPEAT\n"));
}

}  // namespace
}  // namespace torchstone
