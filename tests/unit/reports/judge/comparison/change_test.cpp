#include "reports/judge/comparison/change.h"

#include <cmath>

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
