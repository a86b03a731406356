// Compares levels of records, their differences, and Holm's test with numbers that were computed by hand.

#include "reports/judge/level.h"

#include <cmath>

#include <gmock/gmock.h>

#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

using testing::ElementsAre;

Result record(std::vector<double> ratios, std::vector<double> process_rounds = {}) {
  Result result = simple_result("case", Status::pass, "performance");
  for (const double ratio : ratios) {
    result.outcome.samples["eager_s"].push_back(0.01 * std::exp(ratio));
    result.outcome.samples["compiled_s"].push_back(0.01);
  }
  if (!process_rounds.empty()) result.outcome.samples["process_rounds"] = std::move(process_rounds);
  return result;
}

TEST(Level, OfProcessesIsTheMeanOfTheirMediansWithItsStandardError) {
  const auto level = estimate_level(record({0.1, 0.2, 0.9, 0.3, 0.5, 0.4}, {3, 1, 2}), "speedup");  // medians .2 .3 .45
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->value, 0.95 / 3, 1e-12);
  EXPECT_NEAR(level->variance, 0.01583333333 / 3, 1e-9);  // sample variance of .2 .3 .45
  EXPECT_EQ(level->degrees, 2);
  EXPECT_EQ(level->from, LevelFrom::processes);
  EXPECT_NEAR(estimate_level(record({0, 0}, {1, 1}), "eager_ms")->value, std::log(10.0), 1e-12);
}

TEST(Level, OfOneProcessHasTheDefaultDeviationOrThatOfTheHistory) {
  std::vector<double> ratios;
  for (int i = 1; i <= 9; ++i) ratios.push_back(i / 100.0);  // order statistics 2 and 8 enclose the median at 95 %
  const auto level = estimate_level(record(ratios), "speedup");
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->value, 0.05, 1e-12);
  EXPECT_NEAR(std::sqrt(level->variance), 2.8 * 0.03 / 1.959964, 1e-9);
  EXPECT_EQ(level->degrees, 3);
  EXPECT_EQ(level->from, LevelFrom::rounds);
  EXPECT_EQ(estimate_level(record(ratios, {9}), "speedup")->from, LevelFrom::rounds);
  EXPECT_NEAR(std::sqrt(estimate_level(record(std::vector<double>(9, 0.1)), "speedup")->variance), 0.02, 1e-12);
  const auto by_history = estimate_level(record(ratios), "speedup", RunToRun{0.04, 6});
  EXPECT_NEAR(by_history->variance, 0.0016, 1e-12);
  EXPECT_EQ(by_history->degrees, 6);
}

// The standard error of two processes at .1 and .2 is 0.05. If earlier runs deviate by more, their deviation
// counts.
TEST(Level, OfProcessesIsKnownNoBetterThanRunsRepeat) {
  const Result result = record({0.1, 0.2}, {1, 1});
  const auto by_processes = estimate_level(result, "speedup", RunToRun{0.04, 6});
  EXPECT_EQ(by_processes->from, LevelFrom::processes);
  EXPECT_NEAR(by_processes->variance, 0.0025, 1e-12);
  const auto by_history = estimate_level(result, "speedup", RunToRun{0.06, 6});
  EXPECT_EQ(by_history->from, LevelFrom::runs);
  EXPECT_EQ(by_history->processes, 2);
  EXPECT_NEAR(by_history->value, 0.15, 1e-12);
  EXPECT_NEAR(by_history->variance, 0.0036, 1e-12);
  EXPECT_EQ(by_history->degrees, 6);
}

TEST(Level, OfCompilesIsTheMeanOfTheirProcesses) {
  Result result = simple_result("case", Status::pass, "compile_time");
  result.outcome.samples["cold_compile_cpu_s"] = {std::exp(0.1), std::exp(0.3)};
  const auto level = estimate_level(result, "cold_compile_cpu_s");
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->value, 0.2, 1e-12);
  EXPECT_NEAR(level->variance, 0.01, 1e-12);
  EXPECT_EQ(level->from, LevelFrom::processes);
  result.outcome.samples["cold_compile_cpu_s"] = {2};
  EXPECT_EQ(estimate_level(result, "cold_compile_cpu_s"), std::nullopt) << "one process has no spread";
}

TEST(Level, IsNothingWithoutUsableSamples) {
  EXPECT_EQ(estimate_level(record({}), "speedup"), std::nullopt);
  EXPECT_EQ(estimate_level(record({0.1, 0.2}), "speedup"), std::nullopt);               // too few rounds
  EXPECT_EQ(estimate_level(record({0.1, 0.2, 0.3}, {1, 1}), "speedup"), std::nullopt);  // 1 + 1 is not 3 rounds
  EXPECT_EQ(estimate_level(record({0.1, 0.2}, {1.5, 0.5}), "speedup"), std::nullopt);
  Result negative = record({0.1, 0.2}, {1, 1});
  negative.outcome.samples["compiled_s"][0] = -1;
  EXPECT_EQ(estimate_level(negative, "speedup"), std::nullopt);
}

// The sample variances of five processes each are .00025 and .0058. They differ (pf(23.2, 4, 4) = .995), so the degrees
// of freedom are (.00005 + .00116)^2 / (.00005^2 / 4 + .00116^2 / 4).
TEST(LevelChange, IsWelchsOfProcessesThatVaryOtherwise) {
  const auto after = estimate_level(record({0.10, 0.12, 0.11, 0.09, 0.13}, {1, 1, 1, 1, 1}), "speedup");
  const auto before = estimate_level(record({0.20, 0.24, 0.16, 0.30, 0.10}, {1, 1, 1, 1, 1}), "speedup");
  const LevelChange change = change_between(*after, *before);
  EXPECT_NEAR(change.value, -0.09, 1e-12);
  EXPECT_NEAR(change.error, std::sqrt(0.00025 / 5 + 0.0058 / 5), 1e-12);
  EXPECT_NEAR(change.degrees, 4.344188, 1e-5);
  const Estimate estimate = change.estimate(0.95);
  EXPECT_NEAR((estimate.high - estimate.low) / 2, 2.691806 * change.error, 1e-4);  // qt(.975, 4.344188)
  EXPECT_EQ(change.chance_of_worse(0.02, Better::lower), 1);
  EXPECT_EQ(change.chance_of_worse(0.2, Better::higher), 1);
  EXPECT_EQ(change.chance_of_worse(0.02, Better::neither), 1);
  EXPECT_NEAR(change.chance_of_worse(0, Better::higher), 0.028055, 1e-5);     // pt(-0.09 / error, 4.344188)
  EXPECT_NEAR(change.chance_of_worse(0.02, Better::higher), 0.054085, 1e-5);  // pt((-0.09 + log(1.02)) / error, …)
}

// The sample variances are .00025 of five processes and .0004 of three. Their common variance is
// (4 * .00025 + 2 * .0004) / 6.
TEST(LevelChange, IsStudentsOfProcessesThatVaryAlike) {
  const auto after = estimate_level(record({0.10, 0.12, 0.11, 0.09, 0.13}, {1, 1, 1, 1, 1}), "speedup");
  const auto before = estimate_level(record({0.20, 0.22, 0.18}, {1, 1, 1}), "speedup");
  for (const LevelChange& change : {change_between(*after, *before), change_between(*before, *after)}) {
    EXPECT_NEAR(std::abs(change.value), 0.09, 1e-12);
    EXPECT_NEAR(change.error, std::sqrt(0.0003 * (1.0 / 5 + 1.0 / 3)), 1e-12);
    EXPECT_NEAR(change.degrees, 6, 1e-12);
  }
}

TEST(LevelChange, AgainstAConstantHasTheDegreesOfTheOther) {
  const auto after = estimate_level(record({0.10, 0.12, 0.11, 0.09, 0.13}, {1, 1, 1, 1, 1}), "speedup");
  EXPECT_NEAR(change_between(*after, Level{0.3}).degrees, 4, 1e-9);
  const Level history{0, 0.0001, 6, LevelFrom::history};
  EXPECT_NEAR(change_between(history, history).degrees, 6, 1e-9);  // the same estimate counts once
}

TEST(LevelChange, OfSeveralEstimatesIsTheirWeightedMean) {
  // Value (3·0.2 + 1·0.6)/4, error √((3·0.1)² + (1·0.3)²)/4, degrees (0.09 + 0.09)²/(0.09²/6 + 0.09²/3).
  const LevelChange mean = combined({{0.2, 0.1, 6}, {0.6, 0.3, 3}}, {3, 1});
  EXPECT_NEAR(mean.value, 0.3, 1e-12);
  EXPECT_NEAR(mean.error, std::sqrt(0.18) / 4, 1e-12);
  EXPECT_NEAR(mean.degrees, 8, 1e-12);
  EXPECT_EQ(combined({{0.2, 0, 6}}, {3}).degrees, 6);
  EXPECT_THROW(combined({}, {}), std::invalid_argument);
}

TEST(Level, OfUncountedProcessesNeedsThree) {
  Result result = simple_result("a", Status::pass, "performance");
  result.outcome.samples = {{"uncounted_eager_s", {2, 4, 8, 8}},
                            {"uncounted_compiled_s", {1, 1, 1, 1}},
                            {"uncounted_process_rounds", {1, 1, 2}}};
  const auto level = estimate_uncounted_level(result, "speedup");
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->value, std::log(4), 1e-12);
  EXPECT_EQ(level->degrees, 2);
  EXPECT_FALSE(estimate_level(result, "speedup"));
  result.outcome.samples["uncounted_process_rounds"] = {2, 2};
  EXPECT_FALSE(estimate_uncounted_level(result, "speedup"));
}

// Steps: .001 <= .01 / 4, .0033 <= .01 / 3, but .006 > .01 / 2. Holm's test stops there, although .0061 <= .01.
TEST(Holm, StepsDownAndStops) {
  EXPECT_THAT(holm({0.0061, 0.001, 0.006, 0.0033}, 0.01), ElementsAre(false, true, false, true));
  EXPECT_THAT(holm({0.004, 0.0001}, 0.01), ElementsAre(true, true));
  EXPECT_THAT(holm({0.02}, 0.01), ElementsAre(false));
  EXPECT_THAT(holm({nan_value, 0.001}, 0.01), testing::SizeIs(2));
  EXPECT_THAT(holm({}, 0.01), testing::IsEmpty());
}

TEST(RunToRun, IsOfSuccessiveDifferencesOnThisMachine) {
  std::vector<HistoryPoint> points;
  for (const double value : {1.0, 1.1, 1.0, 1.1, 1.0, 1.1, 1.0}) {
    HistoryPoint point;
    point.name = "case", point.machine = "here", point.metrics = {{"speedup", value}};
    points.push_back(point);
  }
  const auto found = run_to_run(points, "here");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found.at({"case", "speedup"}).deviation, std::log(1.1) / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(found.at({"case", "speedup"}).degrees, 4, 1e-12);
  EXPECT_TRUE(run_to_run(points, "there").empty());
  points.resize(8, points.back());
  points.back().noisy = true;
  points.back().metrics["speedup"] = 9;
  EXPECT_NEAR(run_to_run(points, "here").at({"case", "speedup"}).deviation, std::log(1.1) / std::sqrt(2.0), 1e-12);
  points.resize(4);
  EXPECT_TRUE(run_to_run(points, "here").empty());
}

}  // namespace
}  // namespace torchstone::judge
