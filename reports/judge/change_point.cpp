#include <algorithm>
#include <cmath>

#include "reports/judge/history.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

/// If both sides have more points, the normal approximation replaces the exact distribution.
constexpr size_t exact_up_to = 20;
/// Chance of a false alarm in a series without a shift.
constexpr double significance = 0.01;

double log_choose(size_t n, size_t k) {
  const auto log_factorial = [](size_t x) { return std::lgamma(static_cast<double>(x) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/// Returns P(U <= u) of Mann and Whitney's statistic for m and n points. It is the sum of the coefficients of the
/// Gaussian binomial up to u, over the number of arrangements.
double exact_tail(size_t m, size_t n, size_t u) {
  std::vector<double> ways(u + 1, 0);
  ways[0] = 1;
  for (size_t i = 1; i <= m; ++i) {
    for (size_t s = u + 1; s-- > n + i;) ways[s] -= ways[s - n - i];
    for (size_t s = i; s <= u; ++s) ways[s] += ways[s - i];
  }
  double sum = 0;
  for (const double count : ways) sum += count;
  return std::exp(std::log(sum) - log_choose(m + n, m));
}

double normal_tail(size_t m, size_t n, size_t u) {
  const auto a = static_cast<double>(m), b = static_cast<double>(n);
  const double deviation = std::sqrt(a * b * (a + b + 1) / 12);
  return std::erfc((a * b / 2 - static_cast<double>(u) - 0.5) / deviation / std::sqrt(2.0)) / 2;
}

/// Returns the two-sided p-value of `u`, the smaller of the two sides' statistics.
double p_value(size_t m, size_t n, size_t u) {
  if (m > n) std::swap(m, n);
  return std::min(1.0, 2 * (m <= exact_up_to ? exact_tail(m, n, u) : normal_tail(m, n, u)));
}

/// Returns the smallest p-value that a split can have: all points of one side are below all of the other.
double smallest_p(size_t split, size_t n) { return std::min(1.0, 2 * std::exp(-log_choose(n, split))); }

/// Returns the largest p-value that is significant, by Tarone's correction: splits that cannot reach it do not count as
/// tests.
double threshold(size_t n) {
  for (size_t tests = 1;; ++tests) {
    const double level = significance / static_cast<double>(tests);
    size_t possible = 0;
    for (size_t split = 1; split < n; ++split) possible += smallest_p(split, n) <= level;
    if (possible <= tests) return level;
  }
}

/// Returns Mann and Whitney's statistic of the first points against the rest, for every split. It is the smaller of the
/// two sides, rounded up to be conservative. Equal points count half on both sides.
std::vector<size_t> rank_statistics(const std::vector<double>& series) {
  const size_t n = series.size();
  std::vector<size_t> smaller(n, 0);
  double below = 0;  // pairs (first, rest) with first < rest
  for (size_t split = 1; split < n; ++split) {
    const double moved = series[split - 1];
    const auto win = [](double a, double b) { return a < b ? 1.0 : a == b ? 0.5 : 0.0; };
    for (size_t i = 0; i + 1 < split; ++i) below -= win(series[i], moved);
    for (size_t i = split; i < n; ++i) below += win(moved, series[i]);
    const double all = static_cast<double>(split * (n - split));
    smaller[split] = static_cast<size_t>(std::ceil(std::min(below, all - below)));
  }
  return smaller;
}

double deviation(const std::vector<double>& values, double level) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value - level);
  return sum;
}

}  // namespace

std::optional<ChangePoint> find_change_point(const std::vector<double>& series, double smallest) {
  std::vector<double> values;
  std::vector<size_t> places;
  for (size_t i = 0; i < series.size(); ++i) {
    if (!std::isfinite(series[i])) continue;
    values.push_back(series[i]);
    places.push_back(i);
  }
  const size_t n = values.size();
  if (n < 2) return std::nullopt;
  const double level = threshold(n);
  const auto statistic = rank_statistics(values);
  std::optional<ChangePoint> best;
  double least = 0;
  for (size_t split = 1; split < n; ++split) {
    if (smallest_p(split, n) > level || p_value(split, n - split, statistic[split]) > level) continue;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(split);
    const std::vector<double> first(values.begin(), middle), rest(middle, values.end());
    const ChangePoint change{places[split], statistics::median(first), statistics::median(rest)};
    const double cost = deviation(first, change.before) + deviation(rest, change.after);
    if (best && cost >= least) continue;
    best = change;
    least = cost;
  }
  if (best && std::abs(best->after - best->before) < smallest * std::abs(best->before)) return std::nullopt;
  return best;
}

std::optional<ChangePoint> newest_change_point(const std::vector<double>& all) {
  constexpr size_t most_points = 1000;  // the time grows faster than their square
  const size_t older = all.size() - std::min(all.size(), most_points);
  const std::vector<double> series(all.begin() + static_cast<std::ptrdiff_t>(older), all.end());
  std::optional<ChangePoint> newest = find_change_point(series);
  while (newest) {
    auto later = find_change_point({series.begin() + static_cast<std::ptrdiff_t>(newest->index), series.end()});
    if (!later) break;
    later->index += newest->index;
    newest = later;
  }
  if (newest) newest->index += older;
  return newest;
}

}  // namespace torchstone::judge
