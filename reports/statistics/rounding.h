#pragma once
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

// Whether rounding explains the error of one tensor (docs/rounding.md).
//
// Further runs of eager compute the same function with other rounding. Their distances from float64 give the scale of
// errors that rounding explains. Three quantities of the result are compared with it: the root mean square error of the
// tensor, a common factor of all values, and the largest error of an element in units of that element's own scale. Pure
// functions, like statistics.h.

namespace torchstone::statistics {

/// The same part of each flattened tensor. All spans have the same length.
struct RoundingBlock {
  std::span<const double> exact;              ///< values of the float64 run
  std::span<const double> eager;              ///< values of unperturbed eager
  std::vector<std::span<const double>> runs;  ///< values of eager with other rounding
  std::span<const double> result;             ///< values under test
};

/// A function that calls its argument with each block of a tensor, in order.
using RoundingBlocks = std::function<void(const std::function<void(const RoundingBlock&)>&)>;

/// Errors that rounding always explains, even if the runs have smaller ones.
struct RoundingUnit {
  double relative = 0;  ///< relative to the absolute value of a number
  double absolute = 0;  ///< for a number that is 0
  /// Factor on eager's own error in a tensor without a correct digit left by cancellation. Perturbations do not change
  /// such a tensor, but another order of summation does.
  double cancelled = 0;
};

/// The errors of one tensor. Elements that are not finite in float64 or in a run of eager are left out.
struct RoundingErrors {
  size_t elements = 0, runs = 0;
  double rms = 0;            ///< root mean square of float64's values
  double eager = 0;          ///< RMS error of unperturbed eager
  double of_runs = 0;        ///< RMS error of the runs
  double scale = 0;          ///< RMS error that rounding explains: of the runs, and of the unit
  double result = 0;         ///< RMS error of the result
  double factor_scale = 0;   ///< common relative error of all values that rounding explains
  double factor = 0;         ///< common relative error of the result: its error projected on float64's values
  double degrees = 1;        ///< effective number of independent errors in the tensor
  double worst_element = 0;  ///< largest error of an element of the result, in units of its scale
  /// Smallest scale of an element, relative to its value.
  double firmest_element = std::numeric_limits<double>::infinity();
  /// Whether any element of the result lacks a NaN or infinity that all runs share, or is not finite where they all
  /// are.
  bool differs_in_finiteness = false;
};

/// Measures the errors of a tensor, in two passes over its blocks.
///
/// The scale's square is the larger of eager's mean squared error and the mean over all runs, plus the squares of three
/// terms: unit.relative · rms, unit.absolute, and unit.cancelled · eager · min(1, eager / rms).
///
/// The factor of a run with the errors e is (e · x) / (x · x), where x are float64's values. It is the common relative
/// error of all values; errors of independent signs cancel in it. Its scale is computed like that of the errors, with
/// factors instead of root mean squares. The third term is divided by √degrees, because it represents independent
/// errors. A tensor of zeros has no factor.
///
/// The square of an element's scale adds the mean square of its own errors in the runs, so that an element that jumps
/// has a large scale. `degrees` is one over the mean squared cosine between the errors of two runs. It is 1 for a
/// single number, and the number of elements if their errors are independent and equally large.
///
/// An element for which float64 and all runs have the same NaN or infinity must have it in the result.
/// Throws std::invalid_argument for blocks of different lengths or without a run.
RoundingErrors measure_rounding(const RoundingBlocks& blocks, const RoundingUnit& unit);

/// Conditions under which the bounds of a tensor hold.
struct RoundingTest {
  double error_rate = 1e-3;  ///< probability of a false alarm, over all tensors of the row
  size_t tensors = 1;        ///< number of tensors of the row
  double amplitude = 1;      ///< perturbation of the runs, in units of the result's rounding
  double least = 3;          ///< smallest bound: correct kernels differ by up to this factor
};

/// Largest errors that rounding explains, in units of the scale.
struct RoundingBounds {
  double norm = 0;     ///< of the RMS error
  double factor = 0;   ///< of the factor
  double element = 0;  ///< of each element's error
};

/// Returns the bounds for which all tests of the row together have the error rate, by Bonferroni's inequality. Errors
/// are treated as normal, with a scale estimated from the runs. So the bounds are square roots of quantiles of Fisher's
/// F: (d, runs · d) degrees for d = `degrees`, and (1, runs) for a factor or an element. An amplitude above 1 divides
/// the root, but at most by the ratio of the runs' error to eager's. The reason is that an error which rounding decides
/// at random, such as the sign of a step, does not grow with the amplitude.
RoundingBounds rounding_bounds(const RoundingErrors& errors, const RoundingTest& test);

/// Whether rounding explains the error of a tensor.
struct RoundingVerdict {
  double ratio = 0;  ///< error in units of its scale, in the test nearest to its bound
  double bound = 0;  ///< largest ratio that rounding explains
  /// Smallest relative error of the whole tensor that rounding would not explain. Empty for zeros and for noise.
  std::optional<double> limit{};
  bool is_noise = false;  ///< eager's error is as large as the values

  /// Returns the error in units of what rounding explains: at most 1 is explained.
  double times() const { return ratio / bound; }
  bool explained() const { return ratio <= bound; }
};

RoundingVerdict judge_rounding(const RoundingErrors& errors, const RoundingTest& test);

}  // namespace torchstone::statistics
