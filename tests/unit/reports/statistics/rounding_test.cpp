#include "reports/statistics/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "reports/statistics/processes.h"

namespace torchstone::statistics {
namespace {

using Elements = std::vector<double>;

constexpr double endless = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Elements of a tensor in float64, in eager, in further runs of eager, and in the result.
struct RoundedTensor {
  Elements exact, eager;
  std::vector<Elements> runs;
  Elements result;
  size_t block = 1000;

  RoundingErrors measured(const RoundingUnit& unit = {}) const {
    return measure_rounding(
        [this](const auto& visit) {
          for (size_t begin = 0; begin < exact.size(); begin += block) {
            const auto part = [&](const Elements& values) {
              return std::span(values).subspan(begin, std::min(block, values.size() - begin));
            };
            RoundingBlock elements{part(exact), part(eager), {}, part(result)};
            for (const auto& run : runs) elements.runs.push_back(part(run));
            visit(elements);
          }
        },
        unit);
  }
};

const RoundedTensor two_elements{{3, 4}, {3, 4.1}, {{3.1, 4}, {3, 4.2}}, {3.3, 4}};

TEST(MeasureRounding, AgreesWithTheHandCalculation) {
  const auto found = two_elements.measured();
  EXPECT_EQ(found.elements, 2);
  EXPECT_EQ(found.runs, 2);
  EXPECT_DOUBLE_EQ(found.rms, std::sqrt(12.5));
  EXPECT_NEAR(found.eager, std::sqrt(0.005), 1e-12);
  EXPECT_NEAR(found.of_runs, std::sqrt(0.0125), 1e-12);
  EXPECT_NEAR(found.result, std::sqrt(0.045), 1e-12);
  EXPECT_NEAR(found.scale, std::sqrt(0.0125), 1e-12);  // (0.01 + 0.04) / 2 runs / 2 elements
  EXPECT_NEAR(found.degrees, 2, 1e-12);                // the errors of the runs are orthogonal
  EXPECT_NEAR(found.factor, 0.9 / 25, 1e-12);
  EXPECT_NEAR(found.factor_scale, std::hypot(0.3 / 25, 0.8 / 25) / std::sqrt(2), 1e-12);
  EXPECT_NEAR(found.worst_element, 0.3 / std::sqrt(0.005 + 0.0125), 1e-9);
  EXPECT_NEAR(found.firmest_element, std::sqrt(0.005 + 0.0125) / 3, 1e-9);
  EXPECT_FALSE(found.differs_in_finiteness);
}

TEST(MeasureRounding, AddsTheUnitToTheScale) {
  const auto found = two_elements.measured({.relative = 0.1, .absolute = 0.2});
  const double scale = std::sqrt(0.0125 + 0.125 + 0.04);
  EXPECT_NEAR(found.scale, scale, 1e-12);
  EXPECT_NEAR(found.worst_element, 0.3 / std::sqrt(0.005 + scale * scale + 0.09), 1e-9);
  EXPECT_NEAR(found.factor_scale, std::sqrt((0.09 + 0.64) / 1250 + 0.01 + 0.04 / 12.5), 1e-12);
}

TEST(MeasureRounding, ErrorsOfIndependentSignsCancelInTheFactor) {
  const RoundedTensor tensor{{1, -1, 1, -1}, {1, -1, 1, -1}, {{1.1, -0.9, 1, -1}}, {1.2, -1.2, 0.8, -0.9}};
  const auto found = tensor.measured();
  EXPECT_NEAR(found.factor, 0.025, 1e-12);
  EXPECT_NEAR(found.factor_scale, 0, 1e-12);
  EXPECT_NEAR((RoundedTensor{{1, 1}, {1, 1}, {{1, 1}}, {0.9, 0.9}}.measured().factor), 0.1, 1e-12);
  EXPECT_EQ((RoundedTensor{{0, 0}, {0, 0}, {{0.1, 0}}, {1, 1}}.measured().factor), 0);  // zeros do not define a factor
}

TEST(MeasureRounding, TakesEagersOwnFactorIfItIsLarger) {
  EXPECT_NEAR((RoundedTensor{{1, 1}, {1.3, 1.3}, {{1.1, 1.1}, {0.9, 0.9}}, {1, 1}}.measured().factor_scale), 0.3,
              1e-12);
  EXPECT_NEAR((RoundedTensor{{1, 1}, {1.3, 0.7}, {{1.1, 1.1}, {0.9, 0.9}}, {1, 1}}.measured().factor_scale), 0.1,
              1e-12);
}

TEST(MeasureRounding, DividesWhatIsCancelledByTheRootOfTheDegrees) {
  // The errors of the two runs are orthogonal, so there are two degrees of freedom. Eager's error is half of the
  // values, so 64 · 0.5 · 0.5 = 16 of them are lost.
  const RoundedTensor tensor{{1, 1}, {1.5, 0.5}, {{1.5, 0.5}, {1.5, 1.5}}, {1, 1}};
  EXPECT_NEAR(tensor.measured({.cancelled = 64}).factor_scale, std::sqrt(0.125 + 16 * 16 / 2.), 1e-9);
}

TEST(MeasureRounding, TakesEagersOwnErrorIfItIsLargerThanThatOfTheRuns) {
  EXPECT_NEAR((RoundedTensor{{1}, {1.5}, {{1.1}, {1.2}}, {1}}.measured().scale), 0.5, 1e-12);
  EXPECT_NEAR((RoundedTensor{{1}, {1.01}, {{1.1}, {1.2}}, {1}}.measured().scale), std::sqrt(0.025), 1e-12);
}

TEST(MeasureRounding, CountsEagersErrorSeveralTimesWhereCancellationLeavesNoDigit) {
  const auto scale = [](double exact, double error, double cancelled) {
    return RoundedTensor{{exact}, {exact + error}, {{exact + error}}, {0}}.measured({.cancelled = cancelled}).scale;
  };
  EXPECT_NEAR(scale(0, 0.1, 0), 0.1, 1e-12);
  EXPECT_NEAR(scale(0, 0.1, 64), std::hypot(0.1, 6.4), 1e-12);
  EXPECT_NEAR(scale(0.05, 0.1, 64), std::hypot(0.1, 6.4), 1e-12);
  EXPECT_NEAR(scale(0.2, 0.1, 64), std::hypot(0.1, 3.2), 1e-12);
  EXPECT_NEAR(scale(100, 0.1, 64), std::hypot(0.1, 0.0064), 1e-9);
  EXPECT_EQ(scale(0, 0, 64), 0);
}

TEST(MeasureRounding, DoesNotDependOnTheBlocks) {
  RoundedTensor whole{
      {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5.5}, {{1.1, 2, 3.1, 4, 5}, {1, 1.8, 3, 4.2, 5}}, {1, 2, 3, 4.7, 5}};
  const auto once = whole.measured({0.01, 0});
  whole.block = 2;
  const auto parts = whole.measured({0.01, 0});
  EXPECT_EQ(parts.elements, 5);
  EXPECT_DOUBLE_EQ(parts.scale, once.scale);
  EXPECT_DOUBLE_EQ(parts.degrees, once.degrees);
  EXPECT_DOUBLE_EQ(parts.factor, once.factor);
  EXPECT_DOUBLE_EQ(parts.factor_scale, once.factor_scale);
  EXPECT_DOUBLE_EQ(parts.worst_element, once.worst_element);
  EXPECT_DOUBLE_EQ(parts.firmest_element, once.firmest_element);
}

TEST(MeasureRounding, CountsIndependentErrors) {
  // A single number, or errors that differ only in size, have one degree of freedom.
  EXPECT_DOUBLE_EQ((RoundedTensor{{1}, {1}, {{1.1}, {0.8}, {1.3}}, {1}}.measured().degrees), 1);
  EXPECT_NEAR((RoundedTensor{{1, 1}, {1, 1}, {{1.1, 1.2}, {0.7, 0.4}}, {1, 1}}.measured().degrees), 1, 1e-9);
  // Two of three pairs of errors are orthogonal.
  EXPECT_NEAR((RoundedTensor{{0, 0}, {0, 0}, {{1, 0}, {0, 2}, {3, 0}}, {0, 0}}.measured().degrees), 2,
              1e-12);  // capped
  EXPECT_NEAR((RoundedTensor{{0, 0, 0, 0}, {0, 0, 0, 0}, {{1, 0, 0, 0}, {0, 2, 0, 0}, {3, 0, 0, 0}}, {0, 0, 0, 0}}
                   .measured()
                   .degrees),
              3, 1e-12);
  // A run without error has no direction.
  EXPECT_NEAR((RoundedTensor{{0, 0}, {0, 0}, {{1, 1}, {2, 2}, {0, 0}}, {0, 0}}.measured().degrees), 1, 1e-12);
  EXPECT_EQ((RoundedTensor{{0, 0}, {0, 0}, {{0, 0}, {0, 0}}, {0, 0}}.measured().degrees), 1);
  EXPECT_EQ((RoundedTensor{{0, 0}, {0, 0}, {{1, 2}}, {0, 0}}.measured().degrees), 1);  // one run has no pair

  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  RoundedTensor noise{Elements(4000), Elements(4000), std::vector<Elements>(8, Elements(4000)), Elements(4000)};
  for (auto& run : noise.runs) std::ranges::generate(run, [&] { return normal(random); });
  EXPECT_NEAR(noise.measured().degrees, 4000, 2500);
}

TEST(MeasureRounding, LeavesOutWhatEagerDoesNotAgreeOn) {
  // Overflow in one run, and in eager but not in float64.
  const RoundedTensor tensor{{1, 1e39, 2}, {1, endless, 2}, {{endless, endless, 2.1}}, {7, 5, 2.2}};
  const auto found = tensor.measured();
  EXPECT_EQ(found.elements, 1);
  EXPECT_NEAR(found.rms, 2, 1e-12);
  EXPECT_NEAR(found.result, 0.2, 1e-12);
  EXPECT_FALSE(found.differs_in_finiteness);
  EXPECT_EQ((RoundedTensor{{not_a_number}, {not_a_number}, {{not_a_number}}, {not_a_number}}.measured().elements), 0);
  // Float64, eager, one run or the result is infinite.
  EXPECT_EQ((RoundedTensor{{endless}, {1}, {{1}, {1}}, {1}}.measured().elements), 0);
  EXPECT_EQ((RoundedTensor{{1}, {endless}, {{1}, {1}}, {1}}.measured().elements), 0);
  EXPECT_EQ((RoundedTensor{{1}, {1}, {{1}, {endless}}, {1}}.measured().elements), 0);
  EXPECT_EQ((RoundedTensor{{1}, {1}, {{1}, {1}}, {endless}}.measured().elements), 0);
}

TEST(MeasureRounding, WantsTheSameNaNAndInfinities) {
  const auto differs = [](double exact, double eager, double run, double result) {
    return RoundedTensor{{exact, 1}, {eager, 1}, {{run, 1}}, {result, 1}}.measured().differs_in_finiteness;
  };
  EXPECT_FALSE(differs(not_a_number, not_a_number, not_a_number, not_a_number));
  EXPECT_TRUE(differs(not_a_number, not_a_number, not_a_number, 0));
  EXPECT_TRUE(differs(1, 1, 1, not_a_number));
  EXPECT_TRUE(differs(1, 1, 1, endless));
  EXPECT_FALSE(differs(endless, endless, endless, endless));
  EXPECT_TRUE(differs(endless, endless, endless, -endless));
  EXPECT_TRUE(differs(endless, endless, endless, not_a_number));
  EXPECT_FALSE(differs(1, 1, not_a_number, not_a_number));  // eager does not agree with itself
  EXPECT_FALSE(differs(1, not_a_number, not_a_number, 1));  // nor with float64
  EXPECT_FALSE(differs(endless, endless, -endless, 3));
  const RoundedTensor late{{1, 2}, {1, 2}, {{1, 2}}, {not_a_number, 2}};
  EXPECT_TRUE(late.measured().differs_in_finiteness);  // also if a later element agrees
  EXPECT_EQ(late.measured().elements, 1);
}

TEST(MeasureRounding, RefusesValuesOfSeveralLengths) {
  EXPECT_THROW((RoundedTensor{{1, 2}, {1}, {{1, 2}}, {1, 2}}.measured()), std::invalid_argument);
  EXPECT_THROW((RoundedTensor{{1, 2}, {1, 2}, {{1}}, {1, 2}}.measured()), std::invalid_argument);
  EXPECT_THROW((RoundedTensor{{1, 2}, {1, 2}, {{1, 2}}, {1}}.measured()), std::invalid_argument);
  EXPECT_THROW((RoundedTensor{{1, 2}, {1, 2}, {}, {1, 2}}.measured()), std::invalid_argument);
}

TEST(RoundingBounds, AreQuantilesOfFisher) {
  RoundingErrors errors{.elements = 1, .runs = 4, .degrees = 1};
  const RoundingTest test{.error_rate = 1.5e-3, .tensors = 1, .amplitude = 1, .least = 0};
  // Each test gets a third of the error rate, two-sided: Student's t of 4 degrees at 0.00025.
  EXPECT_NEAR(rounding_bounds(errors, test).norm, student_bound(0.00025, 4), 1e-9);
  EXPECT_NEAR(rounding_bounds(errors, test).norm, 10.3063, 1e-4);
  EXPECT_NEAR(rounding_bounds(errors, test).factor, 10.3063, 1e-4);
  EXPECT_NEAR(rounding_bounds(errors, test).element, 10.3063, 1e-4);
  errors.elements = 10;
  EXPECT_NEAR(rounding_bounds(errors, test).norm, 10.3063, 1e-4);
  EXPECT_NEAR(rounding_bounds(errors, test).factor, 10.3063, 1e-4);
  EXPECT_NEAR(rounding_bounds(errors, test).element, student_bound(0.000025, 4), 1e-9);
  errors.degrees = 3;
  EXPECT_NEAR(rounding_bounds(errors, test).norm, std::sqrt(fisher_bound(0.0005, 3, 12)), 1e-9);
  EXPECT_NEAR(rounding_bounds(errors, test).factor, 10.3063, 1e-4);
  EXPECT_NEAR(rounding_bounds(errors, test).element, student_bound(0.000025, 4), 1e-9);
  const RoundingTest of_five{.error_rate = 1.5e-3, .tensors = 5, .amplitude = 1, .least = 0};
  EXPECT_NEAR(rounding_bounds(errors, of_five).norm, std::sqrt(fisher_bound(0.0001, 3, 12)), 1e-9);
  EXPECT_NEAR(rounding_bounds(errors, of_five).factor, student_bound(0.00005, 4), 1e-9);
}

TEST(RoundingBounds, LargerPerturbationsReplaceTheQuantile) {
  const RoundingErrors errors{.elements = 1, .runs = 4, .degrees = 1};
  const auto bounds = [&](double amplitude, double least = 3) {
    return rounding_bounds(errors, {.error_rate = 1.5e-3, .amplitude = amplitude, .least = least});
  };
  EXPECT_NEAR(bounds(2).norm, 10.3063 / 2, 1e-4);
  EXPECT_NEAR(bounds(2).factor, 10.3063 / 2, 1e-4);
  EXPECT_EQ(bounds(64).norm, 3);
  EXPECT_EQ(bounds(64).factor, 3);
  EXPECT_EQ(bounds(64).element, 3);
  EXPECT_EQ(bounds(64, 4).norm, 4);
}

TEST(RoundingBounds, DivideByNoMoreThanTheRunsAreFartherOffThanEager) {
  RoundingErrors errors{.elements = 1, .runs = 4, .eager = 0.5, .of_runs = 32, .degrees = 1};
  const auto bounds = [&] { return rounding_bounds(errors, {.error_rate = 1.5e-3, .amplitude = 64, .least = 0}); };
  EXPECT_NEAR(bounds().norm, 10.3063 / 64, 1e-4);
  errors.of_runs = 100;
  EXPECT_NEAR(bounds().norm, 10.3063 / 64, 1e-4);
  errors.of_runs = 4;
  EXPECT_NEAR(bounds().norm, 10.3063 / 8, 1e-4);
  EXPECT_NEAR(bounds().factor, 10.3063 / 8, 1e-4);
  EXPECT_NEAR(bounds().element, 10.3063 / 8, 1e-4);
  errors.of_runs = 0.25;
  EXPECT_NEAR(bounds().norm, 10.3063, 1e-4);
}

/// Returns a tensor of these elements whose errors are independent, and whose result has an error `factor` times as
/// large.
RoundedTensor random_tensor(std::mt19937& random, size_t elements, size_t runs, double factor) {
  std::normal_distribution<double> normal;
  RoundedTensor tensor{Elements(elements, 1), Elements(elements, 1), std::vector<Elements>(runs, Elements(elements)),
                       Elements(elements)};
  for (auto& run : tensor.runs) std::ranges::generate(run, [&] { return 1 + 0.01 * normal(random); });
  std::ranges::generate(tensor.result, [&] { return 1 + factor * 0.01 * normal(random); });
  return tensor;
}

double rate_of_alarms(size_t elements, size_t runs, double factor, const RoundingTest& test) {
  std::mt19937 random(7);
  constexpr int rows = 4000;
  int found = 0;
  for (int i = 0; i < rows; ++i)
    found += judge_rounding(random_tensor(random, elements, runs, factor).measured(), test).explained() ? 0 : 1;
  return static_cast<double>(found) / rows;
}

TEST(JudgeRounding, KeepsItsErrorRate) {
  const RoundingTest test{.error_rate = 0.1, .least = 0};
  // For a single number the three tests are almost the same, so that a third of the rate remains. The scale of the
  // element also includes that of the tensor.
  EXPECT_NEAR(rate_of_alarms(1, 4, 1, test), 0.033, 0.01);
  EXPECT_LT(rate_of_alarms(30, 8, 1, test), 0.11);
  EXPECT_GT(rate_of_alarms(30, 8, 1, test), 0.01);
  EXPECT_GT(rate_of_alarms(30, 8, 3, test), 0.99);
}

RoundingVerdict verdict_of(RoundingErrors errors, double amplitude = 64) {
  errors.elements = 100;
  errors.runs = 4;
  if (errors.factor_scale == 0) errors.factor_scale = 1;
  return judge_rounding(errors, {.amplitude = amplitude});
}

TEST(JudgeRounding, TakesTheTestThatIsCloserToItsBound) {
  const auto by_norm = verdict_of({.rms = 10, .scale = 2, .result = 7, .degrees = 50, .worst_element = 3.3});
  EXPECT_DOUBLE_EQ(by_norm.ratio, 3.5);
  EXPECT_DOUBLE_EQ(by_norm.bound, 3);
  EXPECT_NEAR(by_norm.times(), 3.5 / 3, 1e-12);
  EXPECT_FALSE(by_norm.explained());
  const auto by_element = verdict_of({.rms = 10, .scale = 2, .result = 2, .degrees = 50, .worst_element = 3.3});
  EXPECT_DOUBLE_EQ(by_element.ratio, 3.3);
  EXPECT_FALSE(by_element.explained());
  const auto by_factor =
      verdict_of({.rms = 10, .scale = 2, .result = 7, .factor_scale = 0.01, .factor = 0.04, .degrees = 50});
  EXPECT_DOUBLE_EQ(by_factor.ratio, 4);
  EXPECT_DOUBLE_EQ(by_factor.bound, 3);
  EXPECT_TRUE(verdict_of({.rms = 10, .scale = 2, .result = 6, .degrees = 50, .worst_element = 3}).explained());
  // Tests are compared in units of their bounds. An element has a larger bound if the amplitude is that of the result.
  const auto few = verdict_of({.rms = 10, .scale = 2, .result = 7, .degrees = 50, .worst_element = 8}, 1);
  EXPECT_DOUBLE_EQ(few.ratio, 3.5);
}

TEST(JudgeRounding, ExplainsNoErrorWhereRoundingChangesNothing) {
  EXPECT_TRUE(verdict_of({}).explained());
  EXPECT_EQ(verdict_of({}).times(), 0);
  EXPECT_EQ(verdict_of({.result = 1e-9, .worst_element = endless}).times(), endless);
  const RoundedTensor zero{{0, 0}, {0, 0}, {{0, 0}, {0, 0}}, {0, 1e-30}};
  EXPECT_FALSE(judge_rounding(zero.measured({0, 1e-38}), {}).explained());
  EXPECT_TRUE(judge_rounding(zero.measured({0, 1e-30}), {}).explained());
}

TEST(JudgeRounding, ANaNOfTheResultAloneIsNeverExplained) {
  const auto verdict = judge_rounding({.elements = 3, .runs = 2, .scale = 1, .differs_in_finiteness = true}, {});
  EXPECT_FALSE(verdict.explained());
  EXPECT_EQ(verdict.times(), endless);
  EXPECT_TRUE(judge_rounding({.runs = 2}, {}).explained());  // no element is finite, and none differs
}

TEST(JudgeRounding, ExplainsAJumpThatARunShows) {
  RoundedTensor tensor{{1, 1, 1, 1}, {1, 1, 1, 1}, {{1.01, 1, 1, 1}, {1, 0.99, 1, 1}}, {1, 1, 1, 2}};
  const RoundingTest test{.amplitude = 64};
  EXPECT_FALSE(judge_rounding(tensor.measured(), test).explained());
  tensor.runs[0][3] = 2;
  EXPECT_TRUE(judge_rounding(tensor.measured(), test).explained());
}

TEST(JudgeRounding, SeesASingleElementOfMany) {
  std::mt19937 random(3);
  RoundedTensor tensor = random_tensor(random, 100'000, 4, 0.02);
  EXPECT_TRUE(judge_rounding(tensor.measured(), {.amplitude = 64}).explained());
  tensor.result[77] = 1.05;  // too small to change the mean square
  const RoundingErrors errors = tensor.measured();
  const auto verdict = judge_rounding(errors, {.amplitude = 64});
  EXPECT_FALSE(verdict.explained());
  EXPECT_EQ(verdict.ratio, errors.worst_element);
}

TEST(JudgeRounding, SeesACommonFactorUnderNoise) {
  std::mt19937 random(5);
  RoundedTensor tensor = random_tensor(random, 10'000, 8, 0);
  std::ranges::fill(tensor.result, 1.005);  // half of an element's error
  const RoundingErrors errors = tensor.measured();
  const auto verdict = judge_rounding(errors, {});
  EXPECT_FALSE(verdict.explained());
  EXPECT_DOUBLE_EQ(verdict.ratio, errors.factor / errors.factor_scale);
  EXPECT_LT(*verdict.limit, 0.002);
}

TEST(JudgeRounding, HasTheSmallestLimitOfItsTests) {
  EXPECT_NEAR(*verdict_of({.rms = 10, .scale = 2, .degrees = 50}).limit, 0.6, 1e-12);
  EXPECT_NEAR(*verdict_of({.rms = 10, .scale = 2, .degrees = 50, .firmest_element = 0.1}).limit, 0.3, 1e-12);
  EXPECT_NEAR(*verdict_of({.rms = 10, .scale = 2, .factor_scale = 0.05, .degrees = 50}).limit, 0.15, 1e-12);
  EXPECT_FALSE(verdict_of({.rms = 0, .scale = 2}).limit);
  EXPECT_FALSE(verdict_of({.rms = 10, .eager = 10, .scale = 20}).limit);
  EXPECT_TRUE(verdict_of({.rms = 10, .eager = 10, .scale = 20}).is_noise);
  EXPECT_FALSE(verdict_of({.rms = 0, .scale = 2}).is_noise);
  EXPECT_TRUE(verdict_of({.rms = 10, .eager = 9.9, .scale = 20}).limit);
  EXPECT_FALSE(verdict_of({.rms = 10, .eager = 9.9, .scale = 20}).is_noise);
}

TEST(JudgeRounding, TheLimitIsTrue) {
  std::mt19937 random(11);
  for (const size_t elements : {1, 40, 3000}) {
    RoundedTensor tensor = random_tensor(random, elements, 4, 0);
    const RoundingTest test{.tensors = 20, .amplitude = 64};
    const double limit = *judge_rounding(tensor.measured(), test).limit;
    const auto with = [&](double error) {
      std::ranges::fill(tensor.result, 1 + error);
      return judge_rounding(tensor.measured(), test).explained();
    };
    EXPECT_FALSE(with(1.01 * limit)) << elements;
    EXPECT_TRUE(with(0.99 * limit)) << elements;
  }
}

}  // namespace
}  // namespace torchstone::statistics
