#include "reports/judge/comparison/drift.h"

#include <cmath>

#include <fmt/format.h>

#include "reports/statistics/statistics.h"

namespace torchstone::judge {

bool Drift::moved(double tolerance) const {
  return std::abs(centre) > std::log1p(tolerance) && std::abs(centre) > 3 * error;
}

std::optional<Drift> drift_of(const std::vector<double>& changes) {
  if (changes.size() < 3) return std::nullopt;
  const double centre = statistics::median(changes);
  std::vector<double> deviations;
  for (const double change : changes) deviations.push_back(std::abs(change - centre));
  const double spread = 1.4826 * statistics::median(deviations);
  return Drift{centre, spread, 1.2533 * spread / std::sqrt(static_cast<double>(changes.size())), changes.size()};
}

std::string drift_words(const Drift& drift) {
  return fmt::format(
      "The machine moved: eager's times of {} cases changed by {:+.1f} % in the middle (deviation of a case {:.1f} %). "
      "Speed-ups are judged, and absolute times only where eager stayed",
      drift.cases, 100 * std::expm1(drift.centre), 100 * drift.spread);
}

}  // namespace torchstone::judge
