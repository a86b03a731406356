#include "reports/judge/baseline_input.h"

#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/judge/baseline.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Samples = std::map<std::string, std::vector<double>>;

/// Returns a run of one case whose eager side takes 10 ms. Each speed-up is that of a process with two rounds.
Report run_of(const std::string& started, const std::vector<double>& speedups, double fork_join_us = 0) {
  Result result = simple_result("suite/Performance.A/net", Status::pass, "performance");
  Samples& samples = result.outcome.samples;
  for (const double speedup : speedups) {
    samples["eager_s"].insert(samples["eager_s"].end(), 2, 0.010);
    samples["compiled_s"].insert(samples["compiled_s"].end(), 2, 0.010 / speedup);
    samples["process_rounds"].push_back(2);
    if (fork_join_us > 0) samples["process_fork_join_us"].push_back(fork_join_us);
  }
  result.outcome.metrics = {{"speedup", speedups.front()}, {"eager_ms", 10}, {"compiled_peak_bytes", 100}};
  Report report;
  report.run.id = report.run.started = started;
  report.results = {result};
  return report;
}

const Samples& samples_of(const Report& report) { return report.results.at(0).outcome.samples; }

TEST(PooledRuns, HaveTheProcessesOfAll) {
  const Report pooled = pool_runs({run_of("1", {1, 1}), run_of("2", {4, 4, 4, 4})});
  EXPECT_THAT(samples_of(pooled).at("process_rounds"), ElementsAre(2, 2, 2, 2, 2, 2));
  EXPECT_EQ(samples_of(pooled).at("eager_s").size(), 12u);
  EXPECT_NEAR(pooled.results.at(0).outcome.metrics.at("speedup"), std::exp(std::log(4.0) * 4 / 6), 1e-12);
  EXPECT_NEAR(pooled.results.at(0).outcome.metrics.at("eager_ms"), 10, 1e-9);
}

TEST(PooledRuns, HaveTheStatusAndTheCountsOfTheRunThatStartedLast) {
  Report old = run_of("1", {1, 1}), last = run_of("2", {1, 1});
  old.results.at(0).outcome.metrics["compiled_peak_bytes"] = 50;
  last.results.push_back(simple_result("suite/Accuracy.A/net", Status::fail_accuracy));
  old.results.push_back(simple_result("suite/Accuracy.A/net", Status::pass));
  for (const auto& runs : {std::vector{old, last}, std::vector{last, old}}) {
    const Report pooled = pool_runs(runs);
    EXPECT_EQ(pooled.run.started, "2");
    EXPECT_EQ(pooled.results.at(0).outcome.metrics.at("compiled_peak_bytes"), 100);
    EXPECT_EQ(pooled.results.at(1).outcome.status, Status::fail_accuracy);
  }
}

TEST(PooledRuns, LeaveOutWhatWasNotAsItShouldBeAndOtherBatches) {
  Report failed = run_of("1", {2, 2}), larger = run_of("2", {2, 2});
  failed.results.at(0).outcome.status = Status::crash;
  larger.results.at(0).batch_size = 7;
  const Report pooled = pool_runs({failed, larger, run_of("3", {1, 1})});
  EXPECT_THAT(samples_of(pooled).at("process_rounds"), ElementsAre(2, 2));
  EXPECT_NEAR(pooled.results.at(0).outcome.metrics.at("speedup"), 1, 1e-12);
}

TEST(PooledRuns, KeepThreadsThatLayApartByThemselves) {
  const Report apart = run_of("1", {2, 2}, 1.1);
  Report near = run_of("2", {1, 1}, 0.7);
  EXPECT_THAT(samples_of(pool_runs({apart, near})).at("process_rounds"), ElementsAre(2, 2)) << "left out";
  const Report third = run_of("3", {3}, 1.15);
  for (const auto& [key, values] : samples_of(third)) near.results.at(0).outcome.samples["uncounted_" + key] = values;
  const Report both = pool_runs({apart, near});
  EXPECT_THAT(samples_of(both).at("process_rounds"), ElementsAre(2, 2));
  EXPECT_THAT(samples_of(both).at("uncounted_process_rounds"), ElementsAre(2, 2, 2));
  EXPECT_THAT(samples_of(both).at("uncounted_process_fork_join_us"), ElementsAre(1.15, 1.1, 1.1));
  Report again = near;
  again.run.id = "again";
  EXPECT_THAT(samples_of(pool_runs({near, again})).at("uncounted_process_rounds"), ElementsAre(2, 2));
}

TEST(PooledRuns, TakeARunOfOneProcessForOne) {
  Report one = run_of("1", {1.0}), two = run_of("2", {1.1});
  for (Report* run : {&one, &two}) run->results.at(0).outcome.samples.erase("process_rounds");
  EXPECT_THAT(samples_of(pool_runs({one, two})).at("process_rounds"), ElementsAre(2, 2));
}

TEST(PooledRuns, AreOfOneMachineAndDiffer) {
  Report here = run_of("1", {1, 1}), there = run_of("2", {1, 1});
  here.run.machine = {{"cpu", "A"}};
  there.run.machine = {{"cpu", "B"}};
  EXPECT_THAT(
      [&] {
        pool_runs({here, there});
      },
      ThrowsMessage<ReportError>(HasSubstr("not of one machine and version: cpu: B now, A in the baseline")));
  EXPECT_THAT([&] { pool_runs({here, here}); }, ThrowsMessage<ReportError>(HasSubstr("the run 1 twice")));
  EXPECT_THROW(pool_runs({}), std::invalid_argument);
}

/// Returns a run of sixteen cases with five processes each. Runs differ by more than their processes, as
/// on a virtual machine.
Report real_run(std::mt19937_64& random, double slow_down = 0) {
  constexpr double between_runs = 0.007, between_processes = 0.010;
  std::normal_distribution<double> normal;
  Report report;
  report.run.id = fmt::format("run {}", random());
  for (int i = 0; i < 16; ++i) {
    const double of_run = between_runs * normal(random) - (i == 0 ? slow_down : 0);
    std::vector<double> speedups;
    for (int p = 0; p < 5; ++p) speedups.push_back(std::exp(of_run + between_processes * normal(random)));
    Result result = run_of("", speedups).results.at(0);
    result.name = fmt::format("suite/Performance.A/net_{}", i);
    report.results.push_back(result);
  }
  return report;
}

/// Returns how many of 100 comparisons with a baseline of `runs` runs report a case as slower.
int red_of_100(std::mt19937_64& random, int runs, double slow_down) {
  int red = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<Report> baseline;
    for (int r = 0; r < runs; ++r) baseline.push_back(real_run(random));
    red += count_worse(compare_with_baseline(pool_runs(baseline), real_run(random, slow_down))) > 0;
  }
  return red;
}

TEST(PooledRuns, FindFivePercentMoreOftenThanOneRunAndAreAsSeldomRed) {
  std::mt19937_64 random(20260309);
  EXPECT_LE(red_of_100(random, 5, 0), 1);
  const int one = red_of_100(random, 1, std::log(1.05)), five = red_of_100(random, 5, std::log(1.05));
  EXPECT_LE(one, 80);
  EXPECT_GE(five, 90) << one;
}

}  // namespace
}  // namespace torchstone::judge
