#include "reports/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

namespace torchstone::statistics {
namespace {

constexpr double widest_half = 0.25;

void require_values(const std::vector<double>& values, const char* what) {
  if (values.empty()) throw std::invalid_argument(std::string(what) + ": at least one value expected, got none");
}

}  // namespace

double quantile(std::vector<double> values, double p) {
  require_values(values, "quantile");
  if (!(p >= 0 && p <= 1)) throw std::invalid_argument("quantile: p between 0 and 1 expected");
  std::ranges::sort(values);
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

double weighted_quantile(std::vector<Weighted> values, double p) {
  if (!(p >= 0 && p <= 1)) throw std::invalid_argument("weighted quantile: p between 0 and 1 expected");
  double total = 0;
  for (const auto& [value, weight] : values) {
    if (!(weight >= 0)) throw std::invalid_argument("weighted quantile: weights of 0 or more expected");
    total += weight;
  }
  if (!(total > 0)) throw std::invalid_argument("weighted quantile: a weight above 0 expected");
  std::erase_if(values, [](const Weighted& entry) { return entry.weight == 0; });
  std::ranges::sort(values, {}, &Weighted::value);
  double below = 0;
  for (const auto& [value, weight] : values)
    if ((below += weight) >= p * total) return value;
  return values.back().value;  // rounding
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double median_absolute_percentage_error(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> errors;
  errors.reserve(values.size());
  for (const double value : values) errors.push_back(std::abs(value - centre) / centre);
  return median(std::move(errors));
}

double geometric_mean(const std::vector<double>& values) {
  require_values(values, "geometric mean");
  double sum = 0;
  for (const double value : values) {
    if (!(value > 0)) throw std::invalid_argument("geometric mean: positive values expected");
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

size_t tukey_outliers(const std::vector<double>& values) {
  const double q1 = quantile(values, 0.25), q3 = quantile(values, 0.75);
  const double reach = 1.5 * (q3 - q1);
  return static_cast<size_t>(
      std::ranges::count_if(values, [&](double value) { return value < q1 - reach || value > q3 + reach; }));
}

double binomial_half_cdf(size_t n, size_t k) {
  if (k >= n) return 1;
  // lgamma is accurate to 15 digits for any n. The terms grow towards the middle, so the sum adds small ones first.
  const double size = static_cast<double>(n);
  double sum = 0;
  for (size_t i = 0; i <= k; ++i) {
    const double count = static_cast<double>(i);
    sum +=
        std::exp(std::lgamma(size + 1) - std::lgamma(count + 1) - std::lgamma(size - count + 1) - size * std::log(2));
  }
  return std::min(sum, 1.0);
}

std::optional<size_t> median_bound(size_t n, double tail) {
  // Tolerates rounding, so that an index whose probability equals the tail is kept (n = 5 at confidence 0.9375).
  const double limit = tail * (1 + 1e-9);
  if (n == 0 || binomial_half_cdf(n, 0) > limit) return std::nullopt;
  // Bisects, since the probability grows with k. The lower index is within the limit; the upper one may exceed it.
  size_t keeps = 0, breaks = (n + 1) / 2;
  while (breaks - keeps > 1) {
    const size_t middle = (keeps + breaks) / 2;
    (binomial_half_cdf(n, middle) <= limit ? keeps : breaks) = middle;
  }
  return keeps;
}

std::optional<Indices> median_interval(size_t n, double confidence) {
  const auto bound = median_bound(n, (1 - confidence) / 2);
  if (!bound) return std::nullopt;
  return Indices{*bound, n - 1 - *bound};
}

std::vector<double> log_ratios(const std::vector<double>& numerator, const std::vector<double>& denominator) {
  if (numerator.size() != denominator.size())
    throw std::invalid_argument("log ratios: two series of one length expected");
  std::vector<double> result;
  result.reserve(numerator.size());
  for (size_t i = 0; i < numerator.size(); ++i) {
    const double value = std::log(numerator[i] / denominator[i]);
    if (!(numerator[i] > 0) || !(denominator[i] > 0) || !std::isfinite(value))
      throw std::invalid_argument("log ratios: positive finite values expected");
    result.push_back(value);
  }
  return result;
}

double hodges_lehmann(std::vector<double> values) {
  require_values(values, "Hodges-Lehmann");
  std::ranges::sort(values);
  const size_t n = values.size(), pairs = n * (n + 1) / 2;
  // Counts pairs i ≤ j whose mean is at most `limit`, in O(n): the partner moves down as the first value moves up.
  const auto count_up_to = [&](double limit) {
    size_t count = 0, end = n;
    for (size_t i = 0; i < n; ++i) {
      while (end > i && (values[i] + values[end - 1]) / 2 > limit) --end;
      if (end <= i) break;
      count += end - i;
    }
    return count;
  };
  // Finds the rank-th smallest pair mean, by bisection over the values down to neighbouring doubles.
  const auto ranked = [&](size_t rank) {
    double low = std::nextafter(values.front(), -HUGE_VAL), high = values.back();
    while (true) {
      const double middle = std::midpoint(low, high);
      if (middle <= low || middle >= high) return high;
      (count_up_to(middle) >= rank ? high : low) = middle;
    }
  };
  return std::midpoint(ranked((pairs + 1) / 2), ranked(pairs / 2 + 1));
}

Drift drift(const std::vector<double>& series) {
  const size_t stride = (series.size() + 1999) / 2000;
  std::vector<double> values;
  for (size_t i = 0; i < series.size(); i += stride) values.push_back(series[i]);
  const size_t n = values.size();
  if (n < 2) return {};

  std::vector<double> slopes;
  slopes.reserve(n * (n - 1) / 2);
  double score = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>((j - i) * stride));
      score += static_cast<double>((values[j] > values[i]) - (values[j] < values[i]));
    }
  }
  std::map<double, double> ties;
  for (const double value : values) ties[value] += 1;
  const auto term = [](double t) { return t * (t - 1) * (2 * t + 5); };
  double variance = term(static_cast<double>(n));
  for (const auto& [value, count] : ties) variance -= term(count);
  variance /= 18;

  Drift result{median(std::move(slopes)), 1};
  if (variance > 0 && std::abs(score) > 1)
    result.p_value = std::erfc((std::abs(score) - 1) / std::sqrt(variance) / std::sqrt(2.0));
  return result;
}

bool is_bounded(double low, double high) { return low > 0 && std::isfinite(low) && std::isfinite(high); }

bool is_too_wide(double ratio, double low, double high) {
  return !is_bounded(low, high) || (high - low) / 2 > widest_half * ratio;
}

bool says_nothing(double low, double high) { return !is_bounded(low, high) || high > uninformative_factor * low; }

}  // namespace torchstone::statistics
