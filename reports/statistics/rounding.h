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
// an error that rounding explains. Three tests compare the result with it: the root mean square over the tensor, the
// factor by which all values are too large, and the largest error of an element in units of that element's own scale.
// Pure functions, like statistics.h.

namespace torchstone::statistics {

/// The same part of each flattened tensor. All spans have one length.
struct RoundingBlock {
  std::span<const double> exact;              ///< of the float64 run
  std::span<const double> eager;              ///< of eager as it is
  std::vector<std::span<const double>> runs;  ///< of eager with other rounding
  std::span<const double> result;             ///< under test
};

/// Calls its argument with each block of a tensor, in order.
using RoundingBlocks = std::function<void(const std::function<void(const RoundingBlock&)>&)>;

/// Errors that rounding explains, whatever the runs show.
struct RoundingUnit {
  double relative = 0;  ///< of a number, as a part of its size
  double absolute = 0;  ///< of a number that is 0
  /// Eager's own error counts that many times where cancellation leaves no digit of the tensor. Perturbations do not
  /// change such a tensor, but another order of a sum does.
  double cancelled = 0;
};

/// The errors of one tensor. Elements that are not finite in float64 or in a run of eager are left out.
struct RoundingErrors {
  size_t elements = 0, runs = 0;
  double rms = 0;            ///< root mean square of float64's values
  double eager = 0;          ///< RMS error of eager as it is
  double of_runs = 0;        ///< RMS error of the runs
  double scale = 0;          ///< RMS error that rounding explains: of the runs, and of the unit
  double result = 0;         ///< RMS error of the result
  double factor_scale = 0;   ///< relative error of all values alike that rounding explains
  double factor = 0;         ///< the same of the result: its error along float64's values, in units of them
  double degrees = 1;        ///< effective number of independent errors in the tensor
  double worst_element = 0;  ///< largest error of an element of the result, in units of its scale
  /// Smallest scale of an element, in units of its value.
  double firmest_element = std::numeric_limits<double>::infinity();
  /// Whether the result is finite where eager never is, or the other way round.
  bool differs_in_finiteness = false;
};

/// Measures the errors of a tensor, in two passes over its blocks.
///
/// The scale's square is the larger of eager's mean squared error and the mean over all runs, plus the squares of three
/// terms: unit.relative · rms, unit.absolute, and unit.cancelled · eager · min(1, eager / rms).
///
/// The factor of a run with the errors e is (e · x) / (x · x), where x are float64's values: what a common factor adds
/// to them. Errors of independent signs cancel in it. Its scale is that of the errors, with factors in place of root
/// mean squares. The third term is divided by √degrees, because it stands for independent errors. A tensor of zeros has
/// no factor.
///
/// An element's scale adds the mean square of its own errors in the runs, so that an element that jumps has a large
/// one. `degrees` is one over the mean squared cosine between the errors of two runs. It is 1 for a single number, and
/// the number of elements if their errors are independent and alike.
///
/// An element for which float64 and all runs have the same NaN or infinity must have it in the result.
/// Throws std::invalid_argument for blocks of different lengths or without a run.
RoundingErrors measure_rounding(const RoundingBlocks& blocks, const RoundingUnit& unit);

/// Conditions that the bounds of a tensor hold for.
struct RoundingTest {
  double error_rate = 1e-3;  ///< of a false alarm, over all tensors of the row
  size_t tensors = 1;        ///< of the row
  double amplitude = 1;      ///< the runs are perturbed by that many times the rounding of the result
  double least = 3;          ///< smallest bound: kernels of the same mathematics differ by that factor
};

/// Largest errors that rounding explains, in units of the scale.
struct RoundingBounds {
  double norm = 0;     ///< of the RMS error
  double factor = 0;   ///< of the factor
  double element = 0;  ///< of each element's error
};

/// Returns the bounds for which all tests of the row together have the error rate, by Bonferroni's inequality. Errors
/// count as normal, and the scale as estimated from the runs. So the bounds are roots of quantiles of Fisher's F:
/// (d, runs · d) degrees for d = `degrees`, and (1, runs) for a factor or an element. Runs of a larger amplitude divide
/// the root, but at most by how much farther off than eager they are. An error that rounding decides at random, such as
/// the sign of a step, does not grow with the amplitude.
RoundingBounds rounding_bounds(const RoundingErrors& errors, const RoundingTest& test);

enum class RoundingTestOf { norm, factor, element };

/// Whether rounding explains the error of a tensor.
struct RoundingVerdict {
  double ratio = 0;                          ///< error in units of its scale, in the test that is closest to its bound
  double bound = 0;                          ///< largest ratio that rounding explains
  RoundingTestOf by = RoundingTestOf::norm;  ///< that test
  /// Smallest relative error of all values that would not be explained. Empty for zeros and for noise.
  std::optional<double> limit{};
  bool is_noise = false;  ///< eager is as far from float64 as the values are large

  /// Returns the error in units of what rounding explains: at most 1 is explained.
  double times() const { return ratio / bound; }
  bool explained() const { return ratio <= bound; }
};

RoundingVerdict judge_rounding(const RoundingErrors& errors, const RoundingTest& test);

}  // namespace torchstone::statistics
