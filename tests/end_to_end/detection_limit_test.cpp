// Checks that the reported detection limits hold, for the tolerance and for the verdict `rounding`. The errors are
// planted by tests/faults/planted_error.cpp. `ctest -R faults/detection_limit` covers all training rows.
#include <algorithm>
#include <iomanip>
#include <sstream>
#include <utility>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(DetectionLimit, SeparatesRedFromGreenInTraining) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run({std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS, "--torchstone_checks=planted_error",
                      "--torchstone_modes=training", "--torchstone_dtypes=float32", "--torchstone_backends=torchscript",
                      "--gtest_filter=*/lennard_jones_*:*/vit_small_patch16_224_*:*/dcgan_*"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.results().at("results").size(), 3U);
  EXPECT_THAT(run.out, HasSubstr("detection limit: median "));
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
    EXPECT_THAT(outcome.at("notes").value("detection_limit_by", ""), HasSubstr("float64"));
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

/// Runs planted faults under the verdict `rounding`. Training runs without an optimizer, so a wrong gradient does not
/// also change weights.
ProgramRun run_judged(const Torchstone& torchstone, const std::string& filter, const std::string& backends,
                      const std::string& dtypes = "float32") {
  std::vector<std::string> flags = {"--torchstone_judge=rounding",   "--torchstone_checks=accuracy",
                                    "--torchstone_diagnose=never",   "--torchstone_isolate=shared",
                                    "--torchstone_dtypes=" + dtypes, "--torchstone_backends=" + backends};
  if (filter.find("_training_") != std::string::npos) flags.push_back("--torchstone_optimizer=none");
  return torchstone.run_faults(filter, flags);
}

/// Expects that this row is red because of an error that rounding does not explain. Its reason starts with `where`.
void expect_seen(const Torchstone& torchstone, const std::string& row, const std::string& where) {
  const auto outcome = torchstone.row(row).at("outcome");
  EXPECT_EQ(outcome.at("status"), "fail_accuracy") << outcome.dump(1);
  EXPECT_THAT(outcome.at("reason").get<std::string>(),
              AllOf(StartsWith(where), HasSubstr(": the error is "), HasSubstr(" times what rounding explains")));
}

void expect_explained(const Torchstone& torchstone, const std::string& row) {
  const auto outcome = torchstone.row(row).at("outcome");
  EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
  EXPECT_LE(outcome.at("metrics").value("rounding_times", 9.0), 1) << outcome.dump(1);
}

/// Returns the detection limit of this row, and the tensor that it applies to.
std::pair<double, std::string> limit_of(const Torchstone& torchstone, const std::string& row) {
  const auto outcome = torchstone.row(row).at("outcome");
  return {outcome.at("metrics").value("rounding_limit", 0.0), outcome.at("notes").value("rounding_limit_of", "")};
}

std::string factor_of(double error) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(10) << 1 + error;
  return text.str();
}

/// Returns the option `factor` as it is spelled in row names.
std::string named_factor(const std::string& factor) {
  std::string part = "_factor_" + factor + "_";
  std::ranges::replace(part, '.', '_');
  return part;
}

TEST(TheLimitOfRounding, SeparatesRedFromGreenInBothModes) {
  const Torchstone right;
  run_judged(right, "*/healthy_inference_*_fault_none_*:*/trainable_training_*_fault_no_training_fault_*",
             "fault_none,fault_no_training_fault");
  expect_explained(right, "_fault_none_");
  expect_explained(right, "_fault_no_training_fault_");
  const auto [output_limit, output] = limit_of(right, "_fault_none_");
  const auto [gradient_limit, gradient] = limit_of(right, "_fault_no_training_fault_");
  const std::string group = "output gradients.";
  ASSERT_EQ(output, "the output");
  ASSERT_THAT(gradient, StartsWith(group));

  const std::string twice = factor_of(2 * output_limit), half = factor_of(output_limit / 2);
  const std::string twice_in_step = factor_of(2 * gradient_limit), half_in_step = factor_of(gradient_limit / 2);
  const std::string of = ",of=" + gradient.substr(group.size());
  const Torchstone wrong;
  const ProgramRun run = run_judged(
      wrong, "*/healthy_inference_*_fault_scaled_*:*/trainable_training_*_fault_gradient_scaled_*",
      "fault_scaled:factor=" + twice + ",fault_scaled:factor=" + half +
          ",fault_gradient_scaled:factor=" + twice_in_step + of + ",fault_gradient_scaled:factor=" + half_in_step + of);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  expect_seen(wrong, "_fault_scaled" + named_factor(twice), output);
  expect_explained(wrong, "_fault_scaled" + named_factor(half));
  expect_seen(wrong, "_fault_gradient_scaled" + named_factor(twice_in_step), gradient);
  expect_explained(wrong, "_fault_gradient_scaled" + named_factor(half_in_step));
}

TEST(AMissingTermInOneChannel, IsNotExplainedByRounding) {
  const Torchstone torchstone;
  const ProgramRun run = run_judged(torchstone, "*/healthy_inference_*:*/trainable_training_*", "fault_missing_term");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  expect_seen(torchstone, "/healthy_", "the output");
  expect_seen(torchstone, "/trainable_", "");
}

/// A float16 accumulator has a relative error of about 2^-11. That is more than rounding explains in float32, but less
/// than it explains in bfloat16.
TEST(AFloat16Accumulator, IsSeenAsTheLimitSays) {
  const Torchstone torchstone;
  const ProgramRun run = run_judged(torchstone, "*/healthy_inference_*", "fault_float16_sum", "float32,bfloat16");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  expect_seen(torchstone, "_float32_", "the output");
  expect_explained(torchstone, "_bfloat16_");
  EXPECT_LT(limit_of(torchstone, "_float32_").first, 0x1p-11);
  EXPECT_GT(limit_of(torchstone, "_bfloat16_").first, 0x1p-11);
}

TEST(StaleNumbers, AreNotExplainedByRounding) {
  const Torchstone torchstone;
  const ProgramRun run =
      run_judged(torchstone,
                 "*/healthy_inference_*_fault_stale_answer_*:*/trainable_training_*_fault_stale_buffer_*:"
                 "*/trainable_training_*_fault_statistics_*",
                 "fault_stale_answer,fault_stale_buffer,fault_statistics");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  expect_seen(torchstone, "/healthy_", "right on the first input, wrong on the second one: the output");
  expect_seen(torchstone, "_fault_stale_buffer_", "output buffers.norm.running_");
  expect_seen(torchstone, "_fault_statistics_", "output buffers.norm.running_");
}

}  // namespace
}  // namespace torchstone
