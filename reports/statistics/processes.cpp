#include "reports/statistics/processes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace torchstone::statistics {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the continued fraction of the incomplete beta function, by Lentz's method (Press et al., "Numerical
/// Recipes", §6.4).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300, precision = 1e-15;
  const auto guarded = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / guarded(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m < 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guarded(1 + even * d);
    c = guarded(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guarded(1 + odd * d);
    c = guarded(1 + odd / c);
    const double step = d * c;
    result *= step;
    if (std::abs(step - 1) < precision) break;
  }
  return result;
}

/// Returns I(x; a, b). `rest` is 1 − x, which may be too small to be computed from x.
double regularized_beta(double x, double rest, double a, double b) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(rest));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, rest) / b;
}

/// Returns the x ≥ 0 at which a decreasing function reaches `tail`.
template <typename Tail>
double bound_of(double tail, const Tail& tail_at) {
  double low = 0, high = 1;
  while (tail_at(high) > tail) high *= 2;
  for (double middle = high / 2; middle > low && middle < high; middle = low + (high - low) / 2)
    (tail_at(middle) > tail ? low : high) = middle;
  return high;
}

/// Returns all rounds in ascending order, after shifting each process so that its median is `centre`.
std::vector<double> rounds_around(const Processes& processes, double centre) {
  std::vector<double> rounds;
  for (const auto& process : processes) {
    const double own = median(process);
    for (const double value : process) rounds.push_back(value - own + centre);
  }
  std::ranges::sort(rounds);
  return rounds;
}

}  // namespace

double student_tail(double t, double degrees) {
  if (!(degrees >= 1) || !(t >= 0)) throw std::invalid_argument("Student's t: degrees of 1 or more, t of 0 or more");
  const double square = t * t;
  if (std::isinf(square)) return 0;
  return regularized_beta(degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5) / 2;
}

double student_bound(double tail, double degrees) {
  if (!(tail > 0 && tail <= 0.5)) throw std::invalid_argument("Student's t: a tail over 0 and up to 1/2 expected");
  return bound_of(tail, [degrees](double t) { return student_tail(t, degrees); });
}

double fisher_tail(double f, double above, double below) {
  if (!(above >= 1) || !(below >= 1) || !(f >= 0))
    throw std::invalid_argument("Fisher's F: degrees of 1 or more, a ratio of 0 or more");
  const double part = above * f;
  if (std::isinf(part)) return 0;
  return regularized_beta(below / (below + part), part / (below + part), below / 2, above / 2);
}

double fisher_bound(double tail, double above, double below) {
  if (!(tail > 0 && tail <= 1)) throw std::invalid_argument("Fisher's F: a tail over 0 and up to 1 expected");
  return bound_of(tail, [above, below](double f) { return fisher_tail(f, above, below); });
}

Processes by_process(const std::vector<double>& values, const std::vector<double>& lengths) {
  Processes result;
  size_t begin = 0;
  for (const double length : lengths) {
    if (!(length >= 1) || length != std::floor(length) || length > static_cast<double>(values.size() - begin))
      throw std::invalid_argument("rounds by process: positive whole numbers that add up to the rounds expected");
    const size_t end = begin + static_cast<size_t>(length);
    result.emplace_back(values.begin() + static_cast<long>(begin), values.begin() + static_cast<long>(end));
    begin = end;
  }
  if (begin != values.size())
    throw std::invalid_argument("rounds by process: positive whole numbers that add up to the rounds expected");
  return result;
}

std::vector<double> medians(const Processes& processes) {
  std::vector<double> result;
  for (const auto& rounds : processes) result.push_back(median(rounds));
  return result;
}

Moments moments(const std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("mean: at least one value expected");
  const auto n = static_cast<double>(values.size());
  Moments result{std::reduce(values.begin(), values.end()) / n, 0};
  if (values.size() < 2) return result;
  for (const double value : values) result.variance += (value - result.mean) * (value - result.mean) / (n - 1);
  return result;
}

TrimmedMean trimmed_mean(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto n = values.size(), cut = static_cast<size_t>(share * static_cast<double>(n));
  const std::vector<double> left(values.begin() + static_cast<std::ptrdiff_t>(cut),
                                 values.end() - static_cast<std::ptrdiff_t>(cut));
  const double mean = moments(left).mean;
  for (double& value : values) value = std::clamp(value, left.front(), left.back());
  const auto of_all = static_cast<double>(n), of_left = static_cast<double>(left.size());
  if (left.size() == 1) return {mean, 0, 0};
  return {mean, (of_all - 1) * moments(values).variance / (of_left * (of_left - 1)), of_left - 1};
}

MeanBound mean_bound(const std::vector<double>& values, double tail) {
  const auto [mean, variance] = moments(values);
  const auto n = static_cast<double>(values.size());
  if (values.size() < 2) return {mean, infinity};
  return {mean, student_bound(tail, n - 1) * std::sqrt(variance / n)};
}

Components variance_components(const Processes& processes) {
  std::vector<double> deviations;
  double inverse_rounds = 0;
  for (const auto& rounds : processes) {
    const auto n = static_cast<double>(rounds.size());
    inverse_rounds += 1 / n / static_cast<double>(processes.size());
    if (rounds.size() < 2) continue;
    const double centre = median(rounds);
    for (const double value : rounds) deviations.push_back(std::abs(value - centre) * std::sqrt(n / (n - 1)));
  }
  Components result;
  if (!deviations.empty()) result.within = std::pow(1.4826 * median(std::move(deviations)), 2);
  const double explained = std::acos(-1.0) / 2 * result.within * inverse_rounds;
  if (processes.size() > 1) result.between = std::max(0.0, moments(medians(processes)).variance - explained);
  return result;
}

double best_rounds(const Components& components, double process_s, double round_s) {
  if (!(process_s >= 0) || !(round_s > 0)) throw std::invalid_argument("best rounds: times over 0 expected");
  if (components.between <= 0) return infinity;
  return std::sqrt(process_s / round_s * components.within / components.between);
}

Interval interval_of_rounds(const Processes& processes, double centre, double confidence) {
  const auto rounds = rounds_around(processes, centre);
  const auto indices = median_interval(rounds.size(), confidence);
  if (!indices) return {-infinity, infinity};
  return {rounds[indices->low], rounds[indices->high]};
}

Interval reach_of_rounds(const Processes& processes, double tail) {
  const auto rounds = rounds_around(processes, 0);
  if (rounds.empty()) throw std::invalid_argument("reach of rounds: at least one round expected");
  const size_t index = median_bound(rounds.size(), tail).value_or(0);
  return {std::min(0.0, rounds[index]), std::max(0.0, rounds[rounds.size() - 1 - index])};
}

ByPlace by_place(const std::vector<double>& fork_join_us, double near_us) {
  ByPlace places;
  for (size_t i = 0; i < fork_join_us.size(); ++i) {
    const bool near = !std::isfinite(near_us) || !places_differ(fork_join_us[i], near_us);
    (near ? places.near : places.apart).push_back(i);
  }
  return places;
}

bool places_differ(double fork_join_us, double other_us) {
  const auto [less, more] = std::minmax(fork_join_us, other_us);
  return less > 0 && more > apart_factor * less;
}

}  // namespace torchstone::statistics
