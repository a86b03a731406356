#include "reports/judge/change.h"

#include <cmath>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

TEST(Change, HasTheWordsOfNvbenchCompare) {
  EXPECT_EQ(to_string(Change::same), "SAME");
  EXPECT_EQ(to_string(Change::faster), "FASTER");
  EXPECT_EQ(to_string(Change::slower), "SLOWER");
  EXPECT_EQ(to_string(Change::ambiguous), "AMBIGUOUS");
  EXPECT_EQ(to_string(Change::added), "NEW");
  EXPECT_EQ(to_string(Change::gone), "GONE");
}

TEST(MedianEstimate, IsTheMedianBetweenItsOrderStatistics) {
  const Estimate nine = median_estimate({9, 1, 8, 2, 7, 3, 6, 4, 5}, 0.95);  // ranks 2 and 8 of 9
  EXPECT_EQ(nine.value, 5);
  EXPECT_EQ(nine.low, 2);
  EXPECT_EQ(nine.high, 8);
}

TEST(MedianEstimate, OfAFewValuesIsUnbounded) {
  const Estimate five = median_estimate({5, 1, 2, 3, 4}, 0.95);
  EXPECT_EQ(five.value, 3);
  EXPECT_EQ(five.low, -infinity);
  EXPECT_EQ(five.high, infinity);
  EXPECT_THROW(median_estimate({}, 0.95), std::invalid_argument);
}

TEST(Difference, AddsTheDistancesOfEachEndAsSquares) {
  const Estimate change = difference({10, 7, 22}, {4, -1, 8});  // down: 3 and 4; up: 12 and 5
  EXPECT_DOUBLE_EQ(change.value, 6);
  EXPECT_DOUBLE_EQ(change.low, 1);
  EXPECT_DOUBLE_EQ(change.high, 19);
  const Estimate unbounded = difference({10, -infinity, infinity}, {4, 3, 5});
  EXPECT_EQ(unbounded.low, -infinity);
  EXPECT_EQ(unbounded.high, infinity);
}

// The promise of the interval, under noise that is nothing like normal, different on both sides.
TEST(Difference, HoldsTheTrueChangeAsOftenAsItSays) {
  std::mt19937_64 random(1337);
  std::exponential_distribution<double> skewed(1);
  std::normal_distribution<double> normal(0, 1);
  int holds = 0;
  constexpr int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> before, after;
    for (int i = 0; i < 35; ++i) before.push_back(normal(random));
    for (int i = 0; i < 60; ++i) after.push_back(0.7 + 3 * (skewed(random) - std::log(2)));
    const Estimate change = difference(median_estimate(after, 0.95), median_estimate(before, 0.95));
    holds += change.low <= 0.7 && 0.7 <= change.high;
  }
  EXPECT_GE(holds, 0.94 * trials);
  EXPECT_LE(holds, 0.985 * trials);  // and it is not simply wide
}

TEST(Judge, IsSameOnlyWhenTheWholeIntervalIsWithinTheTolerance) {
  const double band = std::log1p(0.02);
  EXPECT_EQ(judge({0, -band, band}, 0.02, Better::lower), Change::same);
  EXPECT_EQ(judge({0.9 * band, 0.8 * band, band}, 0.02, Better::lower), Change::same);  // sure, but too small
  EXPECT_EQ(judge({0, -band, 1.01 * band}, 0.02, Better::lower), Change::ambiguous);
  EXPECT_EQ(judge({0, -1.01 * band, band}, 0.02, Better::lower), Change::ambiguous);
  EXPECT_EQ(judge({0, 0, 0}, 0, Better::lower), Change::same);
}

TEST(Judge, HasAVerdictOnlyWhenTheWholeIntervalIsBeyondTheTolerance) {
  EXPECT_EQ(judge({0.05, 0.021, 0.08}, 0.02, Better::lower), Change::slower);
  EXPECT_EQ(judge({0.05, 0.021, 0.08}, 0.02, Better::higher), Change::faster);
  EXPECT_EQ(judge({-0.05, -0.08, -0.021}, 0.02, Better::lower), Change::faster);
  EXPECT_EQ(judge({-0.05, -0.08, -0.021}, 0.02, Better::higher), Change::slower);
  EXPECT_EQ(judge({0.05, std::log1p(0.02), 0.08}, 0.02, Better::lower), Change::ambiguous);
  EXPECT_EQ(judge({-0.05, -0.08, -std::log1p(0.02)}, 0.02, Better::lower), Change::ambiguous);
  EXPECT_EQ(judge({0.05, 0.021, 0.08}, 0.02, Better::neither), Change::ambiguous);
}

TEST(Judge, OfWhatIsUnknownIsAmbiguous) {
  EXPECT_EQ(judge({0, -infinity, infinity}, 0.02, Better::lower), Change::ambiguous);
  EXPECT_EQ(judge({nan_value, nan_value, nan_value}, 0.02, Better::lower), Change::ambiguous);
}

TEST(JudgeExactly, SeesASingleByte) {
  EXPECT_EQ(judge_exactly(4096, 4096, Better::lower), Change::same);
  EXPECT_EQ(judge_exactly(4096, 4097, Better::lower), Change::slower);
  EXPECT_EQ(judge_exactly(4096, 4095, Better::lower), Change::faster);
  EXPECT_EQ(judge_exactly(4, 5, Better::higher), Change::faster);
  EXPECT_EQ(judge_exactly(4, 5, Better::neither), Change::ambiguous);
  EXPECT_EQ(judge_exactly(1, nan_value, Better::lower), Change::slower);
  EXPECT_EQ(judge_exactly(nan_value, 1, Better::lower), Change::faster);
  EXPECT_EQ(judge_exactly(nan_value, nan_value, Better::lower), Change::same);
}

}  // namespace
}  // namespace torchstone::judge
