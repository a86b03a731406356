#include "reports/statistics/near_processes.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace torchstone::statistics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NearProcesses, AreThoseWithinTwelvePercentOfTheUsual) {
  const auto places = by_place({0.65, 0.72, 0.73, 1.1, 0.6}, 0.65);
  EXPECT_THAT(places.near, ElementsAre(0, 1, 4));
  EXPECT_THAT(places.apart, ElementsAre(2, 3));
}

TEST(NearProcesses, AreNotThoseOfAThirdPlace) {
  EXPECT_THAT(by_place({0.7, 1.4, 1.3, 0.72}, 1.4).near, ElementsAre(1, 2)) << "the usual ones lie apart";
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
