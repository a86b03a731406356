#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "reports/judge/history.h"

namespace torchstone::judge {
namespace {

/// Returns a noisy series whose last `shifted` values are larger by the relative `shift`.
std::vector<double> series_with(size_t size, size_t shifted, double shift, double noise, std::mt19937& random) {
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> series;
  for (size_t i = 0; i < size; ++i) series.push_back(1.4 * (1 + (i + shifted >= size ? shift : 0) + normal(random)));
  return series;
}

TEST(FindStep, HasAtMostOneFalseAlarmInAHundredSeriesOfNoise) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> skewed(0, 1);
  size_t normal_alarms = 0, skewed_alarms = 0;
  constexpr size_t trials = 2000;
  for (size_t i = 0; i < trials; ++i) {
    normal_alarms += find_change_point(series_with(30, 0, 0, 0.1, random)).has_value();
    std::vector<double> series;
    for (int point = 0; point < 30; ++point) series.push_back(skewed(random));
    skewed_alarms += find_change_point(series).has_value();
  }
  EXPECT_LE(normal_alarms, trials / 100);
  EXPECT_LE(skewed_alarms, trials / 100);
  EXPECT_GT(normal_alarms + skewed_alarms, 0u) << "a detector without any alarm would be switched off";
}

TEST(FindStep, FindsFivePercentAtOnePercentNoiseWhereItIs) {
  std::mt19937 random(2);
  for (size_t shifted = 5; shifted <= 25; ++shifted) {
    for (const double shift : {0.05, -0.05}) {
      const auto change = find_change_point(series_with(30, shifted, shift, 0.01, random));
      ASSERT_TRUE(change) << shifted;
      EXPECT_NEAR(static_cast<double>(change->index), static_cast<double>(30 - shifted), 1);
      EXPECT_NEAR(change->after / change->before, 1 + shift, 0.02);
    }
  }
}

TEST(FindStep, NeedsElevenPoints) {
  EXPECT_EQ(find_change_point({1, 1, 1, 1, 1, 2, 2, 2, 2, 2}),
            std::nullopt);  // 2 / C(10, 5) = 0.0079 is too large for three possible splits
  const auto change = find_change_point({1, 1.1, 1.2, 1.3, 1.4, 1.5, 2, 2.1, 2.2, 2.3, 2.4});  // 2 / C(11, 5) = 0.0043
  ASSERT_TRUE(change);
  EXPECT_EQ(change->index, 6u);
  EXPECT_DOUBLE_EQ(change->before, 1.25);
  EXPECT_DOUBLE_EQ(change->after, 2.2);
  EXPECT_EQ(find_change_point({}), std::nullopt);
  EXPECT_EQ(find_change_point({1}), std::nullopt);
}

TEST(FindStep, SeesAShiftOfAQuantityWithoutNoise) {
  std::vector<double> sizes(12, 1000);
  EXPECT_EQ(find_change_point(sizes), std::nullopt);
  sizes.insert(sizes.end(), 6, 1100);
  const auto change = find_change_point(sizes);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->index, 12u);
  for (size_t i = 12; i < sizes.size(); ++i) sizes[i] = 1010;
  EXPECT_EQ(find_change_point(sizes), std::nullopt) << "one percent is below what counts";
  EXPECT_TRUE(find_change_point(sizes, 0.005));
}

TEST(FindStep, OneOutlierIsNoStep) {
  std::mt19937 random(3);
  for (size_t i = 0; i < 30; ++i) {
    auto series = series_with(30, 0, 0, 0.01, random);
    series[i] *= 3;
    EXPECT_EQ(find_change_point(series), std::nullopt) << i;
  }
}

TEST(FindStep, PassesOverWhatIsNotFinite) {
  std::mt19937 random(4);
  auto series = series_with(30, 15, 0.1, 0.01, random);
  series[0] = std::numeric_limits<double>::quiet_NaN();
  series[20] = std::numeric_limits<double>::infinity();
  const auto change = find_change_point(series);
  ASSERT_TRUE(change);
  EXPECT_EQ(change->index, 15u);
  EXPECT_EQ(find_change_point(std::vector<double>(30, NAN)), std::nullopt);
}

TEST(FindStep, SeriesOfHundredsUseTheNormalDistribution) {
  std::mt19937 random(5);
  EXPECT_EQ(find_change_point(series_with(300, 0, 0, 0.01, random)), std::nullopt);
  const auto change = find_change_point(series_with(300, 150, 0.05, 0.01, random));
  ASSERT_TRUE(change);
  EXPECT_NEAR(static_cast<double>(change->index), 150, 1);
}

TEST(NewestStep, IsTheLastOfSeveral) {
  std::mt19937 random(6);
  auto series = series_with(60, 40, 0.2, 0.01, random);
  const auto later = series_with(20, 20, 0.1, 0.01, random);
  series.insert(series.end(), later.begin(), later.end());
  EXPECT_EQ(find_change_point(series)->index, 20u);
  const auto newest = newest_change_point(series);
  ASSERT_TRUE(newest);
  EXPECT_NEAR(static_cast<double>(newest->index), 60, 1);
  EXPECT_NEAR(newest->before, 1.68, 0.02);
}

}  // namespace
}  // namespace torchstone::judge
