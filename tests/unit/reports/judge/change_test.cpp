#include "reports/judge/change.h"

#include <cmath>

#include <gmock/gmock.h>
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
  EXPECT_EQ(to_string(Change::other_model), "DIFFERENT MODEL");
  EXPECT_EQ(to_string(Change::more), "MORE");
  EXPECT_EQ(to_string(Change::less), "LESS");
  EXPECT_EQ(to_string(Change::fixed), "FIXED");
  EXPECT_EQ(to_string(Change::broken), "BROKEN");
}

TEST(Judge, IsSameOnlyWhenTheWholeIntervalIsWithinTheTolerance) {
  const double band = std::log1p(0.02);
  EXPECT_EQ(judge({0, -band, band}, 0.02, Better::lower), Change::same);
  EXPECT_EQ(judge({0.9 * band, 0.8 * band, band}, 0.02, Better::lower), Change::same);  // significant, but too small
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
  EXPECT_EQ(judge_exactly(4096, 4096), Change::same);
  EXPECT_EQ(judge_exactly(4096, 4097), Change::more);
  EXPECT_EQ(judge_exactly(4096, 4095), Change::less);
  EXPECT_EQ(judge_exactly(1, nan_value), Change::broken);
  EXPECT_EQ(judge_exactly(nan_value, 1), Change::fixed);
  EXPECT_EQ(judge_exactly(nan_value, nan_value), Change::same);
}

TEST(CertainFactor, IsTheNearerEndOfAnIntervalThatIsFarFromOne) {
  const auto factor = [](double low, double high, double explained = 1) {
    return certain_factor({0, std::log(low), std::log(high)}, explained);
  };
  EXPECT_NEAR(factor(1.8, 9).value(), 1.8, 1e-12);
  EXPECT_NEAR(factor(1 / 9.0, 1 / 1.8).value(), 1.8, 1e-12);
  EXPECT_TRUE(factor(1.51, 2));
  EXPECT_FALSE(factor(1.49, 9));
  EXPECT_FALSE(factor(0.5, 9));
  EXPECT_NEAR(factor(3, 9, 1.5).value(), 2, 1e-12);
  EXPECT_FALSE(factor(2, 9, 1.5)) << "a factor of 1.33 remains";
  EXPECT_FALSE(certain_factor({nan_value, nan_value, nan_value}));
  EXPECT_FALSE(certain_factor({0, -infinity, infinity}));
}

using testing::HasSubstr;

// The median is .11. The deviations from it are .01 .01 .03 0 .19, and their median is .01.
TEST(Drift, IsTheMedianChangeWithTheErrorOfAMedian) {
  const auto drift = estimate_drift({0.10, 0.12, 0.08, 0.11, 0.30});
  ASSERT_TRUE(drift);
  EXPECT_NEAR(drift->centre, 0.11, 1e-12);
  EXPECT_NEAR(drift->spread, 0.014826, 1e-12);
  EXPECT_NEAR(drift->error, 1.2533 * 0.014826 / 2.2360679775, 1e-9);
  EXPECT_EQ(drift->cases, 5u);
  EXPECT_THAT(drift_words(*drift), HasSubstr("5 cases changed by +11.6 % (deviation of a case 1.5 %)"));
}

TEST(Drift, IsNothingOfTwoCases) {
  EXPECT_FALSE(estimate_drift({0.1, 0.1}));
  EXPECT_TRUE(estimate_drift({0.1, 0.1, 0.1}));
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
