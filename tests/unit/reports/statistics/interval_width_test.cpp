#include "reports/statistics/interval_width.h"

#include <limits>

#include <gtest/gtest.h>

namespace torchstone::statistics {
namespace {

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
  EXPECT_FALSE(is_too_wide(1, 0.75, 1.25)) << "a quarter is not over a quarter";
  EXPECT_FALSE(is_too_wide(2, 1.6, 2.4));
  EXPECT_TRUE(is_too_wide(1, 0.9, 1.5)) << "0.3 to each side";
}

}  // namespace
}  // namespace torchstone::statistics
