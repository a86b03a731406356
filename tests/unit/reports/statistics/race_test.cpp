#include "reports/statistics/race.h"

#include <random>
#include <stdexcept>

#include <gmock/gmock.h>

namespace torchstone::statistics {
namespace {

using testing::ElementsAre;

using Values = std::vector<std::vector<double>>;

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
  // Differences of 0.3, −0.1 and 0.1: the t interval at 95 %, one side, reaches from −0.24 to 0.44.
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

/// Whether the best, the first of `means`, left a race of looks at 10, 20 and 40 processes, without a margin.
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
  EXPECT_GE(lost, 1);  // the bound is not empty: a stricter one would cost processes
}

}  // namespace
}  // namespace torchstone::statistics
