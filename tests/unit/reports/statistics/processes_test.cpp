#include "reports/statistics/processes.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchstone::statistics {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(StudentsT, AgreesWithTheTable) {
  // Fisher & Yates, "Statistical Tables", table III.
  EXPECT_NEAR(student_bound(0.025, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_bound(0.025, 2), 4.30265, 1e-5);
  EXPECT_NEAR(student_bound(0.025, 4), 2.77645, 1e-5);
  EXPECT_NEAR(student_bound(0.025, 9), 2.26216, 1e-5);
  EXPECT_NEAR(student_bound(0.05, 5), 2.01505, 1e-5);
  EXPECT_NEAR(student_bound(0.001, 5), 5.89343, 1e-5);
  EXPECT_NEAR(student_bound(0.001, 11), 4.02470, 1e-5);
  EXPECT_NEAR(student_bound(0.0005, 2), 31.5991, 1e-4);
  EXPECT_NEAR(student_bound(0.025, 1e6), 1.95996, 1e-4);  // the bound of the normal distribution
}

TEST(StudentsT, AgreesWithItsClosedForms) {
  const double pi = std::acos(-1.0);
  for (const double t : {0.0, 0.3, 1.0, 7.0, 1e5}) {
    EXPECT_NEAR(student_tail(t, 1), t > 1 ? std::atan(1 / t) / pi : 0.5 - std::atan(t) / pi, 1e-14);
    EXPECT_NEAR(student_tail(t, 2), 0.5 - t / (2 * std::sqrt(2 + t * t)), 1e-10);
  }
  EXPECT_DOUBLE_EQ(student_bound(0.5, 3), 0);
  EXPECT_NEAR(student_bound(1e-7, 1) * 1e-7 * pi, 1, 1e-9);
}

TEST(StudentsT, RefusesWhatIsNoProbability) {
  for (const double tail : {0.0, -0.1, 0.51, std::nan("")})
    EXPECT_THROW(student_bound(tail, 3), std::invalid_argument) << tail;
  EXPECT_THROW(student_tail(1, 0.5), std::invalid_argument);
  EXPECT_THROW(student_tail(-1, 3), std::invalid_argument);
}

// pf(f, n, d, lower.tail = FALSE)
TEST(FishersF, HasTheKnownTail) {
  EXPECT_NEAR(fisher_tail(3, 4, 7), 0.09744998369140205, 1e-12);
  EXPECT_NEAR(fisher_tail(1, 1, 1), 0.5, 1e-12);
  EXPECT_NEAR(fisher_tail(12.5, 2, 30), 0.0001125585470402574, 1e-12);
  EXPECT_NEAR(fisher_tail(0.3, 5, 9), 0.9009241433407497, 1e-12);
  EXPECT_EQ(fisher_tail(0, 3, 3), 1);
  EXPECT_EQ(fisher_tail(infinity, 3, 3), 0);
}

TEST(FishersF, BoundsATail) {
  // Fisher & Yates, "Statistical Tables", table V: 5 %, 1 % and 0.1 %.
  EXPECT_NEAR(fisher_bound(0.05, 4, 7), 4.1203, 1e-4);
  EXPECT_NEAR(fisher_bound(0.01, 2, 30), 5.3903, 1e-4);
  EXPECT_NEAR(fisher_bound(0.001, 10, 40), 3.8744, 1e-4);
  EXPECT_NEAR(fisher_bound(0.001, 1, 5), std::pow(student_bound(0.0005, 5), 2), 1e-9);
  EXPECT_NEAR(fisher_bound(1, 3, 3), 0, 1e-12);
  for (const double tail : {0.0, -0.1, 1.01, std::nan("")})
    EXPECT_THROW(fisher_bound(tail, 3, 3), std::invalid_argument) << tail;
}

TEST(FishersF, RefusesWhatIsNoRatioOfVariances) {
  EXPECT_THROW(fisher_tail(1, 0.5, 3), std::invalid_argument);
  EXPECT_THROW(fisher_tail(1, 3, 0), std::invalid_argument);
  EXPECT_THROW(fisher_tail(-1, 3, 3), std::invalid_argument);
}

TEST(ByProcess, CutsTheRoundsInOrder) {
  EXPECT_THAT(by_process({1, 2, 3, 4, 5}, {2, 3}), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4, 5)));
  EXPECT_THAT(medians(by_process({1, 2, 3, 4, 5}, {2, 3})), ElementsAre(1.5, 4));
}

TEST(ByProcess, RefusesLengthsThatDoNotFit) {
  for (const std::vector<double>& lengths :
       {std::vector<double>{2}, {2, 2}, {4}, {3, 0}, {1.5, 1.5}, {-1, 4}, {infinity}, {std::nan("")}})
    EXPECT_THROW(by_process({1, 2, 3}, lengths), std::invalid_argument);
}

TEST(TrimmedMean, IsYuens) {
  // 2, 3 and 4 remain. The winsorized values 2 2 3 4 4 have s² = 1, so the variance is (5 − 1) · 1 / (3 · 2).
  const auto mean = trimmed_mean({100, 2, 4, 1, 3}, 0.2);
  EXPECT_EQ(mean.mean, 3);
  EXPECT_NEAR(mean.variance, 2.0 / 3, 1e-12);
  EXPECT_EQ(mean.degrees, 2);
}

TEST(TrimmedMean, OfFewIsTheMean) {
  const auto mean = trimmed_mean({1, 2, 4, 5}, 0.2);
  EXPECT_EQ(mean.mean, 3);
  EXPECT_NEAR(mean.variance, 10.0 / 3 / 4, 1e-12);
  EXPECT_EQ(mean.degrees, 3);
  EXPECT_EQ(trimmed_mean({7}, 0.2).variance, 0);
  EXPECT_THROW(trimmed_mean({}, 0.2), std::invalid_argument);
}

TEST(MeanBound, IsStudentsInterval) {
  // Gosset's sleep data ("The Probable Error of a Mean", 1908), extra hours by the second drug: mean 2.33, deviation
  // 2.002, 95 % interval 0.90 to 3.76.
  const MeanBound bound = mean_bound({1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}, 0.025);
  EXPECT_NEAR(bound.mean, 2.33, 1e-12);
  EXPECT_NEAR(bound.reach, 1.43232, 1e-4);
  EXPECT_NEAR(mean_bound({1, 3}, 0.025).reach, 12.7062, 1e-4);  // the standard error is √2 / √2
}

TEST(MeanBound, OfOneValueIsNone) {
  EXPECT_EQ(mean_bound({5}, 0.025).reach, infinity);
  EXPECT_EQ(moments({5}).variance, 0);
  EXPECT_DOUBLE_EQ(moments({1, 2, 6}).mean, 3);
  EXPECT_DOUBLE_EQ(moments({1, 2, 6}).variance, 7);
  EXPECT_THROW(moments({}), std::invalid_argument);
  EXPECT_THROW(mean_bound({}, 0.025), std::invalid_argument);
}

TEST(VarianceComponents, AreThoseWorkedOutByHand) {
  // The deviations from the medians 2 and 12 are 1 0 1 and 1 0 1, each times √(3/2). The process with one round is left
  // out. Their median is √1.5, so within = 1.4826² · 1.5 = 3.29715. The medians' variance is 331/3 = 110.333, of which
  // the rounds explain π/2 · 3.29715 · (1/3 + 1/3 + 1) / 3 = 2.87731.
  const Components components = variance_components({{1, 2, 3}, {11, 12, 13}, {23}});
  EXPECT_NEAR(components.within, 3.29715, 1e-5);
  EXPECT_NEAR(components.between, 110.33333 - 2.87731, 1e-4);
}

TEST(VarianceComponents, AreNeverNegative) {
  EXPECT_EQ(variance_components({{1, 2, 3}, {0.9, 2, 3.1}}).between, 0);
  EXPECT_EQ(variance_components({{1, 2, 3}}).between, 0);
  EXPECT_EQ(variance_components({{1}, {3}}).within, 0);
  EXPECT_DOUBLE_EQ(variance_components({{1}, {3}}).between, 2);
}

TEST(VarianceComponents, AreNotMovedByInterruptedRounds) {
  const Components calm = variance_components({{1, 2, 3, 4, 5}, {2, 3, 4, 5, 6}});
  const Components interrupted = variance_components({{1, 2, 3, 4, 500}, {2, 3, 4, 5, 600}});
  EXPECT_DOUBLE_EQ(calm.within, interrupted.within);
  EXPECT_DOUBLE_EQ(calm.between, interrupted.between);
}

TEST(VarianceComponents, AreFoundAgainInASimulation) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Components sum;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    Processes processes;
    for (const size_t rounds : {30, 8, 8, 8, 12}) {
      const double effect = 0.03 * normal(random);
      std::vector<double> values(rounds);
      for (double& value : values) value = effect + 0.02 * normal(random);
      processes.push_back(values);
    }
    const Components found = variance_components(processes);
    sum.between += found.between / trials;
    sum.within += found.within / trials;
  }
  EXPECT_NEAR(std::sqrt(sum.between), 0.03, 0.001);
  EXPECT_NEAR(std::sqrt(sum.within), 0.02, 0.001);
}

TEST(BestRounds, IsKaliberasAndJonessOptimum) {
  EXPECT_DOUBLE_EQ(best_rounds({.between = 0.0001, .within = 0.0004}, 16, 1), 8);
  EXPECT_DOUBLE_EQ(best_rounds({.between = 0.0004, .within = 0.0001}, 1, 4), 0.25);
  EXPECT_EQ(best_rounds({.between = 0, .within = 0.0001}, 1, 4), infinity);
  EXPECT_THROW(best_rounds({1, 1}, 1, 0), std::invalid_argument);
  EXPECT_THROW(best_rounds({1, 1}, -1, 1), std::invalid_argument);
}

TEST(BestRounds, HasTheSmallestErrorInAGivenTime) {
  // Variance of the mean after a time T: (between + within / n) (process_s + n round_s) / T.
  const Components components{.between = 4e-4, .within = 9e-4};
  const double process_s = 0.8, round_s = 0.01;
  const auto error = [&](double n) { return (components.between + components.within / n) * (process_s + n * round_s); };
  const double best = best_rounds(components, process_s, round_s);
  for (const double other : {best * 0.9, best * 1.1, best * 0.5, best * 2}) EXPECT_LT(error(best), error(other));
}

TEST(IntervalOfRounds, LeavesOutHowProcessesDiffer) {
  const Interval interval = interval_of_rounds({{1, 2, 3}, {101, 102, 103}}, 50, 0.95);
  EXPECT_EQ(interval.low, 49);
  EXPECT_EQ(interval.high, 51);
  EXPECT_EQ(interval_of_rounds({{1, 2, 3}}, 2, 0.95).high, infinity);
  EXPECT_EQ(interval_of_rounds({{1, 2, 3}}, 2, 0.95).low, -infinity);
}

TEST(ReachOfRounds, IsThatOfTheirInterval) {
  const Processes processes{{1, 2, 3, 4, 6}, {101, 102, 103, 104, 106}};
  const Interval interval = interval_of_rounds(processes, 0, 0.95);
  const Interval reach = reach_of_rounds(processes, 0.025);
  EXPECT_EQ(reach.low, interval.low);
  EXPECT_EQ(reach.high, interval.high);
  EXPECT_EQ(reach.low, -2);
  EXPECT_EQ(reach.high, 3);
}

TEST(ReachOfRounds, IsTheFarthestRoundIfTheyAreTooFew) {
  const Interval reach = reach_of_rounds({{1, 2, 4}}, 0.025);
  EXPECT_EQ(reach.low, -1);
  EXPECT_EQ(reach.high, 2);
}

TEST(ReachOfRounds, IsNoneOfProcessesWithOneRound) {
  const Interval reach = reach_of_rounds({{1}, {2}, {4}}, 0.025);
  EXPECT_EQ(reach.low, 0);
  EXPECT_EQ(reach.high, 0);
  EXPECT_THROW(reach_of_rounds({}, 0.025), std::invalid_argument);
}

/// Returns the share of 95 % t intervals of `count` processes that contain the true mean, 0.
double coverage(size_t count, const std::function<double(std::mt19937_64&)>& effect) {
  std::mt19937_64 random(11);
  constexpr int trials = 1500;
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(count);
    for (double& value : values) value = effect(random);
    const MeanBound bound = mean_bound(values, 0.025);
    held += std::abs(bound.mean) <= bound.reach;
  }
  return static_cast<double>(held) / trials;
}

TEST(Coverage, IsWhatIsPromisedForNormalProcesses) {
  const auto normal = [](auto& random) { return std::normal_distribution<double>()(random); };
  for (const size_t count : {3, 6, 12}) EXPECT_THAT(coverage(count, normal), DoubleNear(0.95, 0.017)) << count;
}

TEST(Coverage, IsALittleLessForSkewedProcesses) {
  // Some processes are much slower: an exponential distribution, whose skewness is 2.
  const auto skewed = [](auto& random) { return std::exponential_distribution<double>()(random) - 1; };
  for (const size_t count : {3, 6, 12}) EXPECT_GT(coverage(count, skewed), 0.86) << count;
}

using testing::IsEmpty;

TEST(NearProcesses, AreThoseWithinTwelvePercentOfTheUsual) {
  const auto places = by_place({0.65, 0.72, 0.73, 1.1, 0.6}, 0.65);
  EXPECT_THAT(places.near, ElementsAre(0, 1, 4));
  EXPECT_THAT(places.apart, ElementsAre(2, 3));
}

TEST(NearProcesses, AreNotThoseOfAThirdPlace) {
  EXPECT_THAT(by_place({0.7, 1.4, 1.3, 0.72}, 1.4).near, ElementsAre(1, 2))
      << "processes with the usual fork-join time have threads in different cache domains";
}

TEST(NearProcesses, AreAllWhereNothingIsKnown) {
  EXPECT_THAT(by_place({0, 0}, 0.65).apart, IsEmpty());
  EXPECT_THAT(by_place({1.1, 2}, std::numeric_limits<double>::infinity()).near, ElementsAre(0, 1));
}

TEST(NearProcesses, AreNoneOnAMachineThatWasFaster) { EXPECT_THAT(by_place({1.1, 1.2}, 0.65).near, IsEmpty()); }

TEST(Places, DifferByTwelvePercentAndMore) {
  EXPECT_TRUE(places_differ(0.65, 0.73));
  EXPECT_TRUE(places_differ(0.73, 0.65));
  EXPECT_FALSE(places_differ(0.65, 0.72));
  EXPECT_FALSE(places_differ(0, 1.1));
}

}  // namespace
}  // namespace torchstone::statistics
