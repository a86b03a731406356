#include "reports/judge/comparison/drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchstone::judge {
namespace {

using testing::HasSubstr;

// Median .11; deviations from it .01 .01 .03 0 .19, whose median is .01.
TEST(Drift, IsTheMedianChangeWithTheErrorOfAMedian) {
  const auto drift = drift_of({0.10, 0.12, 0.08, 0.11, 0.30});
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->centre, 0.11, 1e-12);
  EXPECT_NEAR(drift->spread, 0.014826, 1e-12);
  EXPECT_NEAR(drift->error, 1.2533 * 0.014826 / 2.2360679775, 1e-9);
  EXPECT_EQ(drift->cases, 5u);
  EXPECT_THAT(drift_words(*drift), HasSubstr("5 cases changed by +11.6 % in the middle (deviation of a case 1.5 %)"));
}

TEST(Drift, IsNothingOfTwoCases) {
  EXPECT_FALSE(drift_of({0.1, 0.1}));
  EXPECT_TRUE(drift_of({0.1, 0.1, 0.1}));
}

TEST(Drift, HasMovedBeyondTheToleranceAndThreeErrors) {
  EXPECT_TRUE((Drift{0.03, 0.01, 0.009, 5}.moved(0.02)));
  EXPECT_TRUE((Drift{-0.03, 0.01, 0.009, 5}.moved(0.02)));
  EXPECT_FALSE((Drift{0.03, 0.01, 0.011, 5}.moved(0.02)));    // three errors are 0.033
  EXPECT_FALSE((Drift{0.0197, 0.01, 0.001, 5}.moved(0.02)));  // log 1.02 is 0.0198
  EXPECT_TRUE((Drift{0.0199, 0.01, 0.001, 5}.moved(0.02)));
  EXPECT_FALSE((Drift{0.0, 0.0, 0.0, 5}.moved(0.0)));
}

}  // namespace
}  // namespace torchstone::judge
