// Must not include torch, because tests/faults/statistics compiles this file alone. The expected numbers come from
// exact rational arithmetic (Python's fractions and math.comb) and numpy.

#include "reports/statistics/statistics.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

namespace torchstone::statistics {

void PrintTo(const Indices& indices, std::ostream* stream) { *stream << indices.low << ".." << indices.high; }

namespace {

const std::vector<double> seven_values = {3.1, 1.2, 9.9, 4.4, 2.0, 7.3, 5.5};
const std::vector<double> kNone;

TEST(Quantile, InterpolatesBetweenOrderStatisticsAsNumpyDoes) {
  const std::vector<std::pair<double, double>> expected = {{0, 1.2},    {0.1, 1.68}, {0.25, 2.55}, {0.5, 4.4},
                                                           {0.75, 6.4}, {0.9, 8.34}, {1, 9.9}};
  for (const auto& [p, value] : expected) EXPECT_NEAR(quantile(seven_values, p), value, 1e-12) << p;
}

TEST(Quantile, OfOneValueIsThatValue) {
  for (const double p : {0.0, 0.3, 1.0}) EXPECT_EQ(quantile({42}, p), 42);
}

TEST(Quantile, RefusesEmptySamplesAndProbabilitiesOutOfRange) {
  EXPECT_THROW(quantile({}, 0.5), std::invalid_argument);
  EXPECT_THROW(quantile({1, 2}, -0.01), std::invalid_argument);
  EXPECT_THROW(quantile({1, 2}, 1.01), std::invalid_argument);
  EXPECT_THROW(quantile({1, 2}, std::nan("")), std::invalid_argument);
}

TEST(WeightedQuantile, IsTheFirstValueThatReachesThePartOfTheWeight) {
  const std::vector<Weighted> values{{3, 1}, {1, 2}, {2, 5}, {9, 0}, {0, 0}};
  const std::vector<std::pair<double, double>> expected = {{0, 1}, {0.25, 1}, {0.26, 2}, {0.875, 2}, {0.9, 3}, {1, 3}};
  for (const auto& [p, value] : expected) EXPECT_EQ(weighted_quantile(values, p), value) << p;
}

TEST(WeightedQuantile, RefusesWhatHasNoWeight) {
  EXPECT_THROW(weighted_quantile({}, 0.5), std::invalid_argument);
  EXPECT_THROW(weighted_quantile({{1, 0}}, 0.5), std::invalid_argument);
  EXPECT_THROW(weighted_quantile({{1, -1}, {2, 3}}, 0.5), std::invalid_argument);
  EXPECT_THROW(weighted_quantile({{1, 1}}, 1.5), std::invalid_argument);
}

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(MedianAbsolutePercentageError, AgreesWithNumpyAndIgnoresOutliers) {
  EXPECT_NEAR(median_absolute_percentage_error(seven_values), 0.5454545454545455, 1e-12);
  EXPECT_NEAR(median_absolute_percentage_error({100, 98, 102, 99, 101}), 0.01, 1e-12);
  EXPECT_NEAR(median_absolute_percentage_error({100, 98, 102, 99, 1e9}), 0.01, 0.011);
  EXPECT_EQ(median_absolute_percentage_error({7, 7, 7}), 0);
}

TEST(GeometricMean, IsTheRootOfTheProduct) {
  EXPECT_NEAR(geometric_mean({1, 4}), 2, 1e-12);
  EXPECT_NEAR(geometric_mean(seven_values), 3.870470531045321, 1e-12);
  EXPECT_NEAR(geometric_mean({2, 0.5, 3}), std::cbrt(3.0), 1e-12);
  EXPECT_THROW(geometric_mean({}), std::invalid_argument);
  EXPECT_THROW(geometric_mean({1, 0}), std::invalid_argument);
  EXPECT_THROW(geometric_mean({1, -2}), std::invalid_argument);
}

TEST(TukeyOutliers, CountsBothSidesBeyondTheFences) {
  // The quartiles of 1…5 are 2 and 4, so the fences are −1 and 7.
  EXPECT_EQ(tukey_outliers({1, 2, 3, 4, 5}), 0u);
  // The quartiles of these nine values are 3 and 7, so the fences are −3 and 13. A value on a fence is inside.
  EXPECT_EQ(tukey_outliers({-3, 2, 3, 4, 5, 6, 7, 8, 13}), 0u);
  EXPECT_EQ(tukey_outliers({-3.1, 2, 3, 4, 5, 6, 7, 8, 13}), 1u);
  EXPECT_EQ(tukey_outliers({-3, 2, 3, 4, 5, 6, 7, 8, 13.1}), 1u);
  EXPECT_EQ(tukey_outliers({-50, 2, 3, 4, 5, 6, 7, 8, 99}), 2u);
}

TEST(BinomialHalf, AgreesWithExactFractions) {
  EXPECT_NEAR(binomial_half_cdf(10, 3), 0.171875, 1e-12);
  EXPECT_NEAR(binomial_half_cdf(1000, 480), 0.10872414660207047, 1e-11);
  EXPECT_NEAR(binomial_half_cdf(10000, 4900), 0.023292763852473693, 1e-10);
  EXPECT_NEAR(binomial_half_cdf(5, 0), 0.03125, 1e-15);
  EXPECT_EQ(binomial_half_cdf(5, 5), 1);
  EXPECT_EQ(binomial_half_cdf(5, 50), 1);
}

TEST(MedianInterval, AgreesWithTheBinomialTable) {
  EXPECT_EQ(median_interval(0, 0.95), std::nullopt);
  EXPECT_EQ(median_interval(5, 0.95), std::nullopt);         // best possible coverage 0.9375
  EXPECT_EQ(median_interval(6, 0.95), (Indices{0, 5}));      // 0.96875
  EXPECT_EQ(median_interval(9, 0.95), (Indices{1, 7}));      // 0.9609
  EXPECT_EQ(median_interval(15, 0.95), (Indices{3, 11}));    // 0.9648
  EXPECT_EQ(median_interval(20, 0.95), (Indices{5, 14}));    // 0.9586
  EXPECT_EQ(median_interval(31, 0.95), (Indices{9, 21}));    // 0.9706
  EXPECT_EQ(median_interval(52, 0.95), (Indices{18, 33}));   // 0.9635
  EXPECT_EQ(median_interval(101, 0.95), (Indices{40, 60}));  // 0.9540
  EXPECT_EQ(median_interval(1000, 0.95), (Indices{468, 531}));
  EXPECT_EQ(median_interval(10000, 0.95), (Indices{4901, 5098}));
}

TEST(MedianInterval, KeepsAnIndexWhoseCoverageEqualsTheConfidence) {
  EXPECT_EQ(median_interval(5, 0.9375), (Indices{0, 4}));
  EXPECT_EQ(median_interval(9, 0.9609375), (Indices{1, 7}));
  EXPECT_EQ(median_interval(9, 0.961), (Indices{0, 8}));
}

TEST(MedianInterval, NeverPromisesMoreThanItsCoverage) {
  for (size_t n = 1; n <= 300; ++n) {
    for (const double confidence : {0.5, 0.9, 0.95, 0.99, 0.999}) {
      const auto interval = median_interval(n, confidence);
      if (!interval) {
        EXPECT_LT(1 - std::ldexp(2.0, -static_cast<int>(n)), confidence) << n;
        continue;
      }
      EXPECT_EQ(interval->low + interval->high, n - 1);
      EXPECT_GE(1 - 2 * binomial_half_cdf(n, interval->low), confidence - 1e-9) << n;
      // The next narrower interval would not reach the confidence.
      EXPECT_LT(1 - 2 * binomial_half_cdf(n, interval->low + 1), confidence) << n;
    }
  }
}

TEST(MedianBound, IsOneSided) {
  EXPECT_EQ(median_bound(9, 0.001), std::nullopt);  // 2^-9 is more
  EXPECT_EQ(median_bound(10, 0.001), 0u);
  EXPECT_EQ(median_bound(20, 0.001), 2u);
  EXPECT_EQ(median_bound(40, 0.001), 9u);
  EXPECT_EQ(median_bound(10000, 0.001), 4844u);
  EXPECT_EQ(median_bound(0, 0.5), std::nullopt);
  EXPECT_EQ(median_bound(10, 0), std::nullopt);
  EXPECT_EQ(median_bound(10, -0.1), std::nullopt);
}

TEST(LogRatios, AreOfTheFirstOverTheSecond) {
  const auto ratios = log_ratios({2, 3}, {1, 6});
  EXPECT_NEAR(ratios.at(0), std::log(2), 1e-15);
  EXPECT_NEAR(ratios.at(1), -std::log(2), 1e-15);
}

TEST(LogRatios, RefuseWhatHasNone) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(log_ratios({1, 2}, {1}), std::invalid_argument);
  EXPECT_THROW(log_ratios({0}, {1}), std::invalid_argument);
  EXPECT_THROW(log_ratios({1}, {0}), std::invalid_argument);
  EXPECT_THROW(log_ratios({-1}, {-1}), std::invalid_argument);
  EXPECT_THROW(log_ratios({std::nan("")}, {1}), std::invalid_argument);
  EXPECT_THROW(log_ratios({infinity}, {1}), std::invalid_argument);
}

TEST(HodgesLehmann, IsTheMedianOfThePairMeans) {
  EXPECT_NEAR(hodges_lehmann(seven_values), 4.525, 1e-12);
  EXPECT_NEAR(hodges_lehmann({3.1, 1.2, 9.9, 4.4, 2.0, 7.3}), 4.4, 1e-12);
  EXPECT_NEAR(hodges_lehmann({1, 2}), 1.5, 1e-12);
  EXPECT_EQ(hodges_lehmann({-3}), -3);
  EXPECT_EQ(hodges_lehmann({0, 0, 0, 0}), 0);
  EXPECT_NEAR(hodges_lehmann({-1, 1}), 0, 1e-12);
  EXPECT_THROW(hodges_lehmann({}), std::invalid_argument);
}

TEST(HodgesLehmann, OfManyValuesNeedsNoSquareOfMemory) {
  std::vector<double> values(100'001);
  std::iota(values.begin(), values.end(), 0.0);
  EXPECT_NEAR(hodges_lehmann(values), 50'000, 1e-6);
}

TEST(Drift, OfAStraightLineIsItsSlope) {
  std::vector<double> line;
  for (int i = 0; i < 20; ++i) line.push_back(3 - 0.25 * i);
  const auto found = drift(line);
  EXPECT_NEAR(found.slope, -0.25, 1e-12);
  EXPECT_LT(found.p_value, 1e-8);
}

TEST(Drift, AgreesWithTheTheilSenAndMannKendallFormulas) {
  EXPECT_NEAR(drift(seven_values).slope, 0.4, 1e-12);
  EXPECT_NEAR(drift(seven_values).p_value, 0.5480055723613093, 1e-12);
  const auto ties = drift({1, 2, 2, 3, 3, 3, 4, 6, 5});
  EXPECT_NEAR(ties.slope, 0.5, 1e-12);
  EXPECT_NEAR(ties.p_value, 0.0019144847836661872, 1e-12);
}

TEST(Drift, IsNoneForConstantShortAndEmptySeries) {
  for (const auto& series : {kNone, {5}, {5, 5, 5, 5}}) {
    EXPECT_EQ(drift(series).slope, 0);
    EXPECT_EQ(drift(series).p_value, 1);
  }
  EXPECT_EQ(drift({1, 2}).slope, 1);
  EXPECT_EQ(drift({1, 2}).p_value, 1);
}

TEST(Drift, OfALongSeriesKeepsItsUnitPerRound) {
  std::vector<double> line;
  for (int i = 0; i < 5001; ++i) line.push_back(0.5 * i);
  EXPECT_NEAR(drift(line).slope, 0.5, 1e-9);
}

constexpr double unlimited = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

TEST(IsBounded, HoldsOfIntervalsWithTwoFiniteEndsAboveZero) {
  EXPECT_TRUE(is_bounded(0.5, 3));
  EXPECT_FALSE(is_bounded(0, 3));
  EXPECT_FALSE(is_bounded(0.5, unlimited));
  EXPECT_FALSE(is_bounded(unlimited, unlimited));
  EXPECT_FALSE(is_bounded(nan, 3));
  EXPECT_FALSE(is_bounded(0.5, nan));
}

TEST(IsTooWide, HoldsOfIntervalsWithoutABoundAndOfThoseOverAQuarterToEachSide) {
  EXPECT_TRUE(is_too_wide(1.02, 0, unlimited));
  EXPECT_TRUE(is_too_wide(1.02, 0, 1.1));
  EXPECT_TRUE(is_too_wide(1.02, nan, 1.1));
  EXPECT_TRUE(is_too_wide(1, 0.74, 1.26));
  EXPECT_FALSE(is_too_wide(1, 0.75, 1.25)) << "±25 % is not above the limit of 25 %";
  EXPECT_FALSE(is_too_wide(2, 1.6, 2.4));
  EXPECT_TRUE(is_too_wide(1, 0.9, 1.5)) << "0.3 to each side";
}

TEST(SaysNothing, HoldsOfIntervalsWithoutABoundAndOfThoseWiderThanAFactorOfFour) {
  EXPECT_TRUE(says_nothing(0, 8046)) << "such an interval was once printed for 5.12x";
  EXPECT_TRUE(says_nothing(0.0006, 8046));
  EXPECT_TRUE(says_nothing(0.9, unlimited));
  EXPECT_TRUE(says_nothing(nan, 1.1));
  EXPECT_TRUE(says_nothing(0.5, 2.01));
  EXPECT_FALSE(says_nothing(0.5, 2)) << "from half to twice still says something";
  EXPECT_FALSE(says_nothing(1.14, 1.39));
  EXPECT_FALSE(says_nothing(2000, 2100)) << "a large ratio may be known well";
}

}  // namespace
}  // namespace torchstone::statistics
