#include "reports/statistics/multiple_comparisons.h"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchstone::statistics {
namespace {

using Values = std::vector<std::vector<double>>;

/// Three treatments in three processes. The first two differ by 1, 2 and 3, and the third one is far behind.
const Values three{{1, 1, 1}, {2, 3, 4}, {101, 100, 102}};

TEST(CompareWithBest, AgreesWithTheHandCalculation) {
  // Two comparisons at 95 %: t of 2 degrees at 0.025 is 4.302653. Second minus first has mean 2 and s/√3 = 0.57735.
  const auto found = compare_with_best(three, 0.95);
  const double reach = 4.302653 / std::sqrt(3.0);
  EXPECT_NEAR(found[0].behind, -2 - reach + 0.0, 1e-5);  // compared with the second one
  EXPECT_NEAR(found[1].behind, 2 - reach, 1e-5);
  EXPECT_NEAR(found[1].low, std::min(0.0, 2 - reach), 1e-5);
  EXPECT_NEAR(found[1].high, 2 + reach, 1e-5);
  EXPECT_GT(found[2].behind, 90);
  EXPECT_EQ(found[2].low, 0);
}

TEST(CompareWithBest, TheOneThatIsSurelyBestHasNoUpperEndAboveZero) {
  const auto found = compare_with_best({{1, 1.01, 0.99}, {2, 2.01, 1.98}, {3, 3.02, 3.01}}, 0.95);
  EXPECT_LE(found[0].behind, 0);
  EXPECT_EQ(found[0].high, 0);
  EXPECT_LT(found[0].low, -0.9);
  EXPECT_GT(found[1].behind, 0);
  EXPECT_NEAR(found[1].high, 1, 0.1);
  EXPECT_NEAR(found[2].high, 2, 0.1);
}

TEST(CompareWithBest, EqualOnesMayAllBeTheBest) {
  const auto found = compare_with_best({{5, 6, 7}, {5, 6, 7}}, 0.95);
  EXPECT_EQ(found[0].behind, 0);
  EXPECT_EQ(found[1].behind, 0);
}

TEST(CompareWithBest, OneProcessDecidesNothingAndOneTreatmentIsTheBest) {
  const auto found = compare_with_best({{1}, {100}}, 0.95);
  EXPECT_LT(found[1].behind, 0);
  EXPECT_EQ(found[1].high, std::numeric_limits<double>::infinity());
  EXPECT_LT(compare_with_best({{1, 2}}, 0.95)[0].behind, 0);
}

TEST(CompareWithBest, RefusesWhatHasNoValue) {
  for (const Values& values : {Values{}, Values{{}}, Values{{1, 2}, {}}})
    EXPECT_THROW(compare_with_best(values, 0.95), std::invalid_argument);
  EXPECT_THROW(compare_with_control({{1, 2}, {}}, 0, 0.95), std::invalid_argument);
}

TEST(CompareWithBest, ComparesTwoInTheProcessesThatBothHave) {
  auto longer = three;
  longer[0].push_back(50);
  longer[1].push_back(-50);
  const auto all = compare_with_best(three, 0.95), found = compare_with_best(longer, 0.95);
  EXPECT_EQ(found[2].behind, all[2].behind);  // it has only the first three processes, so its result is unchanged
  EXPECT_NE(found[1].behind, all[1].behind);
  const auto control = compare_with_control(three, 0, 0.95), with_longer = compare_with_control(longer, 0, 0.95);
  EXPECT_EQ(with_longer[2].high, control[2].high);
  EXPECT_NE(with_longer[1].high, control[1].high);
}

/// A treatment with few processes has a wide interval, which must not widen the interval of another treatment.
TEST(CompareWithBest, TakesNoBoundFromOneThatSurelyIsNotTheBest) {
  const std::vector<double> best{0, 0, 0.1, 0, 0.1, 0}, other{0, 3, 1, 1, 1, 1}, left{5, 5.001};
  const auto three = compare_with_best({best, other, left}, 0.95), two = compare_with_best({best, other}, 0.975);
  ASSERT_GT(three.at(2).behind, 0);
  EXPECT_DOUBLE_EQ(three.at(1).high, two.at(1).high);
}

TEST(CompareWithControl, SharesTheErrorAmongTheComparisons) {
  const auto found = compare_with_control(three, 0, 0.95);
  EXPECT_EQ(found[0].low, 0);
  EXPECT_EQ(found[0].high, 0);
  // Two comparisons, two sides: t of 2 degrees at 0.0125 is 6.20535.
  EXPECT_NEAR(found[1].low, 2 - 6.20535 / std::sqrt(3.0), 1e-4);
  EXPECT_NEAR(found[1].high, 2 + 6.20535 / std::sqrt(3.0), 1e-4);
}

/// Returns random values of treatments with these means. Treatments share an error within a process, and their
/// deviations differ by a factor of up to four.
Values drawn(std::mt19937_64& random, const std::vector<double>& means, int processes) {
  std::normal_distribution<double> normal;
  Values values(means.size());
  for (int p = 0; p < processes; ++p) {
    const double shared = 0.05 * normal(random);
    for (size_t i = 0; i < means.size(); ++i)
      values[i].push_back(means[i] + shared + 0.005 * static_cast<double>(1 + i % 4) * normal(random));
  }
  return values;
}

TEST(CompareWithBest, HoldsAtTheStatedRateWhateverTheVariances) {
  std::mt19937_64 random(7);
  const std::vector<double> means{0, 0, 0.01, 0.02, 0.05, 0.3};
  constexpr int trials = 4000;
  int lost = 0, wrong = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto found = compare_with_best(drawn(random, means, 8), 0.95);
    lost += found[0].behind > 0 ? 1 : 0;  // treatment 0 is one of the best
    bool holds = true;
    for (size_t i = 0; i < means.size(); ++i) holds = holds && found[i].low <= means[i] && means[i] <= found[i].high;
    wrong += holds ? 0 : 1;
    EXPECT_GT(found[5].behind, 0);
  }
  EXPECT_LE(lost, 0.05 * trials);
  EXPECT_LE(wrong, 0.055 * trials);
}

using testing::ElementsAre;

TEST(Logarithms, AreNatural) {
  const auto values = logarithms({1, 2.718281828459045, 0.5});
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0], 0);
  EXPECT_DOUBLE_EQ(values[1], 1);
  EXPECT_DOUBLE_EQ(values[2], -0.6931471805599453);
}

TEST(Race, EachLookHasItsPartOfTheError) {
  EXPECT_DOUBLE_EQ(confidence_of_look(0.95, 1), 0.95);
  EXPECT_DOUBLE_EQ(confidence_of_look(0.94, 3), 0.98);
  EXPECT_THROW(confidence_of_look(0.95, 0), std::invalid_argument);
}

TEST(Race, IsSettledWhenOneIsLeft) {
  const auto look = look_at_race({{1, 1.01, 0.99}, {2, 2.01, 1.98}, {3, 3.02, 3.01}}, 0.95, 0.02);
  EXPECT_THAT(look.may_be_best, ElementsAre(true, false, false));
  EXPECT_TRUE(look.settled);
}

TEST(Race, GoesOnWhileTheOrderOfTwoIsNotKnown) {
  // The differences are 0.3, −0.1 and 0.1. Their one-sided t interval at 95 % is from −0.24 to 0.44.
  const auto look = look_at_race({{1, 1, 1}, {1.3, 0.9, 1.1}, {3, 3.02, 3.01}}, 0.95, 0.02);
  EXPECT_THAT(look.may_be_best, ElementsAre(true, true, false));
  EXPECT_FALSE(look.settled);
}

TEST(Race, IsSettledWhenThoseThatAreLeftSurelyDifferByNoMoreThanTheMargin) {
  const Values close{{1, 1, 1}, {1.001, 1.002, 1.0015}, {3, 3.02, 3.01}};
  EXPECT_THAT(look_at_race(close, 0.95, 0.02).may_be_best, ElementsAre(true, true, false));
  EXPECT_TRUE(look_at_race(close, 0.95, 0.02).settled);
  EXPECT_FALSE(look_at_race(close, 0.95, 0.0015).settled);  // they may differ by 0.0018 and more
}

TEST(Race, OneProcessSettlesNothing) { EXPECT_FALSE(look_at_race({{1}, {2}}, 0.95, 0.02).settled); }

/// Returns whether the best treatment, the first one, is eliminated by analyses at 10, 20 and 40 processes. The margin
/// is 0.
bool best_is_lost(std::mt19937_64& random, const std::vector<double>& means, double confidence, int looks) {
  std::normal_distribution<double> normal;
  Values values(means.size());
  std::vector<bool> races(means.size(), true);
  for (int look = 0, wanted = 10; look < looks; ++look, wanted *= 2) {
    while (values[0].size() < static_cast<size_t>(wanted)) {
      const double shared = 0.05 * normal(random);
      for (size_t i = 0; i < means.size(); ++i)
        if (races[i]) values[i].push_back(means[i] + shared + 0.08 * normal(random));
    }
    const auto found = look_at_race(values, confidence_of_look(confidence, looks), 0);
    if (!found.may_be_best[0]) return true;
    if (found.settled) return false;
    races = found.may_be_best;
  }
  return false;
}

TEST(Race, KeepsTheBestAtTheStatedRateOverAllLooks) {
  std::mt19937_64 random(11);
  const std::vector<double> means{0, 0, 0, 0.001, 0.05, 0.3};
  constexpr int trials = 3000;
  int lost = 0;
  for (int trial = 0; trial < trials; ++trial) lost += best_is_lost(random, means, 0.9, 3) ? 1 : 0;
  EXPECT_LE(lost, 0.1 * trials);
  EXPECT_GE(lost, 1);  // the bound is not too strict, which would cost processes
}

}  // namespace
}  // namespace torchstone::statistics
