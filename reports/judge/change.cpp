#include "reports/judge/change.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

constexpr double far = 1.5;

Change direction(bool grown, Better better) {
  if (better == Better::neither) return Change::ambiguous;
  return grown == (better == Better::higher) ? Change::faster : Change::slower;
}

}  // namespace

std::string_view to_string(Change change) {
  static constexpr std::array<std::string_view, 11> words = {
      "SAME", "FASTER", "SLOWER", "AMBIGUOUS", "NEW", "GONE", "DIFFERENT MODEL", "MORE", "LESS", "FIXED", "BROKEN"};
  return words.at(static_cast<size_t>(change));
}

Change judge(const Estimate& log_ratio, double tolerance, Better better) {
  const double band = std::log1p(tolerance);
  if (log_ratio.low >= -band && log_ratio.high <= band) return Change::same;
  if (log_ratio.low > band) return direction(true, better);
  if (log_ratio.high < -band) return direction(false, better);
  return Change::ambiguous;
}

Change judge_exactly(double before, double after) {
  if (before == after || (std::isnan(before) && std::isnan(after))) return Change::same;
  if (std::isnan(after)) return Change::broken;
  if (std::isnan(before)) return Change::fixed;
  return after > before ? Change::more : Change::less;
}

std::optional<double> certain_factor(const Estimate& log_ratio, double explained) {
  const double factor = std::exp(std::max(log_ratio.low, -log_ratio.high)) / explained;
  return factor >= far ? std::optional(factor) : std::nullopt;
}

bool Drift::moved(double tolerance) const {
  return std::abs(centre) > std::log1p(tolerance) && std::abs(centre) > 3 * error;
}

std::optional<Drift> estimate_drift(const std::vector<double>& changes) {
  if (changes.size() < 3) return std::nullopt;
  const double centre = statistics::median(changes);
  std::vector<double> deviations;
  for (const double change : changes) deviations.push_back(std::abs(change - centre));
  const double spread = 1.4826 * statistics::median(deviations);
  return Drift{centre, spread, 1.2533 * spread / std::sqrt(static_cast<double>(changes.size())), changes.size()};
}

std::string drift_words(const Drift& drift) {
  return fmt::format(
      "The machine drifted: the median of eager's times of {} cases changed by {:+.1f} % (deviation of a case {:.1f} "
      "%). Speed-ups are judged, but absolute times only where eager did not change",
      drift.cases, 100 * std::expm1(drift.centre), 100 * drift.spread);
}

}  // namespace torchstone::judge
