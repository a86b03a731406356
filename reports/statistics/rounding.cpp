#include "reports/statistics/rounding.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reports/statistics/processes.h"

namespace torchstone::statistics {
namespace {

constexpr size_t most_paired = 8;        // runs whose errors are compared with each other
constexpr double most_degrees = 10'000;  // more degrees of freedom do not change a bound

bool alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Returns whether `holds` is true of float64, eager and each run at one element.
template <typename Predicate>
bool all_of_eager(const RoundingBlock& block, size_t i, const Predicate& holds) {
  return holds(block.exact[i]) && holds(block.eager[i]) &&
         std::ranges::all_of(block.runs, [&](const auto& run) { return holds(run[i]); });
}

bool is_finite(const RoundingBlock& block, size_t i) {
  return all_of_eager(block, i, [](double value) { return std::isfinite(value); });
}

/// Whether the result lacks a NaN or infinity that all runs of eager share, or is not finite where all of them are.
bool differs_in_finiteness(const RoundingBlock& block, size_t i) {
  if (is_finite(block, i)) return !std::isfinite(block.result[i]);
  const bool same = all_of_eager(block, i, [&](double value) { return alike(value, block.exact[i]); });
  return same && !alike(block.result[i], block.exact[i]);
}

void require_one_length(const RoundingBlock& block) {
  const auto differs = [&](const auto& values) { return values.size() != block.exact.size(); };
  if (block.runs.empty() || differs(block.eager) || differs(block.result) || std::ranges::any_of(block.runs, differs))
    throw std::invalid_argument("rounding: values of one length, and a run of eager expected");
}

double square(double value) { return value * value; }

/// Sums of squares and products of errors over the elements.
struct Sums {
  size_t elements = 0;
  double values = 0, eager = 0, runs = 0, result = 0;
  double eager_along = 0, result_along = 0;     ///< products of errors and float64's values
  std::vector<double> runs_along{};             ///< the same products for each run
  std::vector<std::vector<double>> products{};  ///< products of the errors of two runs, for the first `most_paired`
  bool differs_in_finiteness = false;

  void add(const RoundingBlock& block) {
    require_one_length(block);
    const size_t paired = std::min(block.runs.size(), most_paired);
    products.resize(paired, std::vector<double>(paired));
    runs_along.resize(block.runs.size());
    std::vector<double> errors(block.runs.size());
    for (size_t i = 0; i < block.exact.size(); ++i) {
      differs_in_finiteness = differs_in_finiteness || statistics::differs_in_finiteness(block, i);
      if (!is_finite(block, i) || !std::isfinite(block.result[i])) continue;
      const double exact = block.exact[i];
      ++elements;
      values += square(exact);
      eager += square(block.eager[i] - exact);
      result += square(block.result[i] - exact);
      eager_along += (block.eager[i] - exact) * exact;
      result_along += (block.result[i] - exact) * exact;
      for (size_t r = 0; r < errors.size(); ++r) {
        errors[r] = block.runs[r][i] - exact;
        runs += square(errors[r]);
        runs_along[r] += errors[r] * exact;
      }
      for (size_t r = 0; r < paired; ++r)
        for (size_t s = 0; s <= r; ++s) products[r][s] += errors[r] * errors[s];
    }
  }

  /// Returns one over the mean squared cosine between the errors of two runs, at least 1.
  double degrees() const {
    double cosines = 0, pairs = 0;
    for (size_t r = 0; r < products.size(); ++r) {
      for (size_t s = 0; s < r; ++s) {
        const double sizes = products[r][r] * products[s][s];
        if (!(sizes > 0)) continue;
        cosines += square(products[r][s]) / sizes;
        ++pairs;
      }
    }
    if (pairs == 0) return 1;
    return std::clamp(pairs / std::max(cosines, pairs / most_degrees), 1.0, most_degrees);
  }
};

double mean_square_of_runs(const RoundingBlock& block, size_t i) {
  double sum = 0;
  for (const auto& run : block.runs) sum += square(run[i] - block.exact[i]);
  return sum / static_cast<double>(block.runs.size());
}

/// Returns error / scale; 0 without an error.
double in_units_of(double scale, double error) { return error == 0 ? 0 : error / scale; }

}  // namespace

RoundingErrors measure_rounding(const RoundingBlocks& blocks, const RoundingUnit& unit) {
  Sums sums;
  RoundingErrors found;
  blocks([&](const RoundingBlock& block) {
    sums.add(block);
    found.runs = block.runs.size();
  });
  found.elements = sums.elements;
  found.differs_in_finiteness = sums.differs_in_finiteness;
  if (sums.elements == 0) return found;
  const auto n = static_cast<double>(sums.elements);
  found.rms = std::sqrt(sums.values / n);
  found.eager = std::sqrt(sums.eager / n);
  found.of_runs = std::sqrt(sums.runs / n / static_cast<double>(found.runs));
  found.result = std::sqrt(sums.result / n);
  const double of_runs = std::max(square(found.eager), square(found.of_runs));
  const double lost = found.eager < found.rms ? found.eager / found.rms : 1;  // relative error, at most 1
  const double cancelled = unit.cancelled * found.eager * lost;
  found.scale = std::sqrt(of_runs + square(unit.relative * found.rms) + square(unit.absolute) + square(cancelled));
  found.degrees = std::min(sums.degrees(), n);
  if (sums.values > 0) {
    double of_factors = 0;
    for (const double along : sums.runs_along) of_factors += square(along / sums.values);
    of_factors = std::max(square(sums.eager_along / sums.values), of_factors / static_cast<double>(found.runs));
    found.factor = std::abs(sums.result_along / sums.values);
    found.factor_scale = std::sqrt(of_factors + square(unit.relative) + square(unit.absolute / found.rms) +
                                   square(cancelled / found.rms) / found.degrees);
  }
  blocks([&](const RoundingBlock& block) {
    for (size_t i = 0; i < block.exact.size(); ++i) {
      if (!is_finite(block, i) || !std::isfinite(block.result[i])) continue;
      const double size = std::abs(block.exact[i]);
      const double scale =
          std::sqrt(mean_square_of_runs(block, i) + square(found.scale) + square(unit.relative * size));
      const double error = std::abs(block.result[i] - block.exact[i]);
      found.worst_element = std::max(found.worst_element, in_units_of(scale, error));
      if (size > 0) found.firmest_element = std::min(found.firmest_element, scale / size);
    }
  });
  return found;
}

RoundingBounds rounding_bounds(const RoundingErrors& errors, const RoundingTest& test) {
  const auto runs = static_cast<double>(errors.runs), elements = static_cast<double>(errors.elements);
  const double tail = test.error_rate / (3 * static_cast<double>(test.tensors));
  const bool grows = errors.of_runs >= test.amplitude * errors.eager;
  const double amplitude = grows ? test.amplitude : std::max(1.0, errors.of_runs / errors.eager);
  const auto bound = [&](double of_tail, double degrees) {
    return std::max(test.least, std::sqrt(fisher_bound(of_tail, degrees, runs * degrees)) / amplitude);
  };
  return {bound(tail, errors.degrees), bound(tail, 1), bound(tail / elements, 1)};
}

RoundingVerdict judge_rounding(const RoundingErrors& errors, const RoundingTest& test) {
  if (errors.differs_in_finiteness) return {.ratio = std::numeric_limits<double>::infinity(), .bound = test.least};
  if (errors.elements == 0) return {.bound = test.least};
  const RoundingBounds bounds = rounding_bounds(errors, test);
  RoundingVerdict verdict{.ratio = in_units_of(errors.scale, errors.result), .bound = bounds.norm};
  const auto take_if_nearer = [&](double ratio, double bound) {
    if (ratio / bound > verdict.times()) verdict = {ratio, bound};
  };
  take_if_nearer(in_units_of(errors.factor_scale, errors.factor), bounds.factor);
  take_if_nearer(errors.worst_element, bounds.element);
  verdict.is_noise = errors.rms > 0 && errors.eager >= errors.rms;
  if (errors.rms > 0 && !verdict.is_noise)
    verdict.limit = std::min({bounds.norm * errors.scale / errors.rms, bounds.factor * errors.factor_scale,
                              bounds.element * errors.firmest_element});
  return verdict;
}

}  // namespace torchstone::statistics
