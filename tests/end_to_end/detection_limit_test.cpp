// The stated detection limit is honest: tests/faults/planted_error.cpp. All training rows: ctest -R
// faults/detection_limit.
#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

TEST(DetectionLimit, SeparatesRedFromGreenInTraining) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS, "--torchstone_checks=planted_error",
                      "--torchstone_modes=training", "--torchstone_dtypes=float32", "--torchstone_backends=torchscript",
                      "--gtest_filter=*/lennard_jones_*:*/vit_small_patch16_224_*:*/dcgan_*"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.results().at("results").size(), 3U);
  EXPECT_THAT(run.out, testing::HasSubstr("detection limit: median "));
}

TEST(DetectionLimit, StandsInRowsOfAccuracyAndOfPerformance) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(
      {"--torchstone_backends=torchscript", "--torchstone_dtypes=float32", "--torchstone_measure_budget=0.2",
       "--torchstone_repeat=2", "--torchstone_checks=accuracy,performance", "--gtest_filter=*/lennard_jones_*"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto results = torchstone.results().at("results");
  ASSERT_GE(results.size(), 3U);
  for (const auto& row : results) {
    const auto& outcome = row.at("outcome");
    EXPECT_GT(outcome.at("metrics").value("detection_limit", 0.0), 0) << row.dump(1);
    EXPECT_LT(outcome.at("metrics").value("detection_limit", 1.0), 0.1) << row.dump(1);
    EXPECT_THAT(outcome.at("notes").value("detection_limit_by", ""), testing::HasSubstr("float64"));
    EXPECT_NE(outcome.at("notes").value("detection_limit_of", ""), "");
  }
}

TEST(DetectionLimit, OfRoundingIsInRowsThatItJudges) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({"--torchstone_judge=both", "--torchstone_checks=accuracy", "--torchstone_dtypes=float32",
                      "--torchstone_backends=torchscript", "--gtest_filter=*/lennard_jones_*"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto results = torchstone.results().at("results");
  ASSERT_GE(results.size(), 2U);
  for (const auto& row : results) {
    const auto& outcome = row.at("outcome");
    EXPECT_EQ(outcome.at("notes").value("rounding", ""), "explained") << row.dump(1);
    EXPECT_LE(outcome.at("metrics").value("rounding_times", 9.0), 1) << row.dump(1);
    EXPECT_GT(outcome.at("metrics").value("rounding_limit", 0.0), 0) << row.dump(1);
    EXPECT_NE(outcome.at("notes").value("rounding_limit_of", ""), "") << row.dump(1);
  }
}

}  // namespace
}  // namespace torchstone
