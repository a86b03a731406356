#include "cases/main/ship_measurement.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace torchstone {
namespace {

using testing::HasSubstr;

void no_progress(std::string_view) {}

TEST(ShipMeasurement, ReadsBothReplies) {
  judge::Entrant entrant;
  EXPECT_TRUE(read_shipped(R"({"bytes": 4096})", entrant));
  EXPECT_TRUE(read_shipped(R"({"load_s": 0.5, "first_call_s": 0.25, "seconds": 0.125, "error": 1e-7})", entrant));
  ASSERT_TRUE(entrant.shipped);
  EXPECT_EQ(entrant.shipped->bytes, 4096);
  EXPECT_EQ(entrant.shipped->load_s, 0.5);
  EXPECT_EQ(entrant.shipped->seconds, 0.125);
}

TEST(ShipMeasurement, HasNoNumbersAfterARefusal) {
  judge::Entrant entrant;
  EXPECT_TRUE(read_shipped(R"({"bytes": 4096})", entrant));
  EXPECT_FALSE(read_shipped(R"({"refused": "ImportError: no module named openvino"})", entrant));
  EXPECT_FALSE(entrant.shipped);
  EXPECT_EQ(entrant.why_not_measured, "ImportError: no module named openvino");
  for (const char* damaged : {"", "[]", R"({"load_s": 1})", R"({"refused": 3})"}) {
    judge::Entrant other;
    EXPECT_FALSE(read_shipped(damaged, other)) << damaged;
    EXPECT_FALSE(other.shipped);
    EXPECT_EQ(other.why_not_measured, "its process gave no measurement");
  }
}

TEST(ShipMeasurement, SaysWhatCannotBeMeasured) {
  judge::Entrant entrant;
  measure_shipped({.command = "", .code = "load"}, {}, 0, 60, no_progress, entrant);
  EXPECT_THAT(entrant.why_not_measured, HasSubstr("example inputs"));
  measure_shipped({.command = "pack", .python = "model = load()", .program = "load()"}, {}, 0, 60, no_progress,
                  entrant);
  EXPECT_EQ(entrant.why_not_measured, "its command is no Python");
  for (const char* make : {"pack()", ""}) {  // with an empty `make`, the file is shipped as it is
    measure_shipped({.make = make, .program = "load()"}, {}, 0, 60, no_progress, entrant);
    EXPECT_EQ(entrant.why_not_measured, "no line of Python loads it") << make;
  }
  EXPECT_FALSE(entrant.shipped);
}

TEST(ShipMeasurement, IsOfTheBatchSizeThatWasTimed) {
  Case c;
  ModelInfo file;
  c.batch_size = file.eval_batch = 4;
  EXPECT_EQ(why_not_as_timed(c, file), "");
  c.batch_size = 16;
  EXPECT_EQ(why_not_as_timed(c, file), "the example inputs of the file have 4 samples, and 16 were timed");
}

TEST(ShipMeasurement, HasALimitForAllOfIt) {
  const selection::Shipping endless{
      .make = "import time; time.sleep(600)", .python = "model = print", .program = "load()"};
  const auto start = std::chrono::steady_clock::now();
  judge::Entrant late, never;
  measure_shipped(endless, {}, 0, 1, no_progress, late);
  EXPECT_THAT(late.why_not_measured, HasSubstr("it took more than 1 s (--torchstone_tournament_ship_limit"));
  measure_shipped(endless, {}, 0, 0, no_progress, never);
  EXPECT_THAT(never.why_not_measured, HasSubstr("no time is left"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_FALSE(late.shipped || never.shipped);
}

// Without these reports, a log has no line while the compiler runs, although its heartbeat is shorter.
TEST(ShipMeasurement, TellsWhichStepRunsUntilItsEnd) {
  judge::Entrant entrant;
  entrant.name = "inductor";
  std::vector<std::string> steps;
  std::chrono::steady_clock::time_point last;
  measure_shipped(
      {.make = "import time; time.sleep(600)", .python = "model = print", .program = "load()"}, {}, 0, 2,
      [&](std::string_view step) {
        steps.emplace_back(step);
        last = std::chrono::steady_clock::now();
      },
      entrant);
  EXPECT_GT(steps.size(), 3U);
  EXPECT_THAT(steps, testing::Each("make the file of inductor"));
  EXPECT_LT(std::chrono::steady_clock::now() - last, std::chrono::seconds(10));
  steps.clear();
  measure_shipped(
      {.make = "open('made', 'w').write('1')", .python = "model = print", .program = "load()"}, {}, 0, 60,
      [&](std::string_view step) { steps.emplace_back(step); }, entrant);
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front(), "make the file of inductor");
  EXPECT_EQ(steps.back(), "time inductor as shipped");
}

TEST(ShipMeasurement, KeepsWhatInductorCompilesInItsOwnFolder) {
  judge::Entrant entrant;
  measure_shipped({.make = "import os; raise ValueError(os.environ['TORCHINDUCTOR_CACHE_DIR'])",
                   .python = "model = print",
                   .program = "load()"},
                  {}, 0, 60, no_progress, entrant);
  EXPECT_THAT(entrant.why_not_measured, testing::ContainsRegex("ValueError: .*torchstone-shipped-.*/cache"));
}

}  // namespace
}  // namespace torchstone
