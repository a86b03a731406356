#include "reports/judge/comparison/placed_change.h"

#include "reports/judge/comparison/samples.h"
#include "reports/statistics/near_processes.h"

namespace torchstone::judge {
namespace {

struct PlacedLevel {
  Level level;
  double fork_join_us = 0;  ///< 0: not known
};

std::vector<PlacedLevel> levels_of(const Result& result, const std::string& metric,
                                   const std::optional<RunToRun>& history) {
  std::vector<PlacedLevel> levels;
  if (const auto counted = level_of(result, metric, history)) levels.push_back({*counted, fork_join_us_of(result)});
  if (const auto others = uncounted_level_of(result, metric, history))
    levels.push_back({*others, fork_join_us_of(result, "uncounted_")});
  return levels;
}

/// Of two means of n and m values of one variance the difference has the variance of this inverse.
double weight_of(const Level& a, const Level& b) {
  const double n = a.processes, m = b.processes;
  return n * m / (n + m);
}

}  // namespace

std::optional<PlacedChange> placed_change(const Result& before, const Result& after, const std::string& metric,
                                          const std::optional<RunToRun>& history) {
  std::vector<LevelChange> changes;
  std::vector<double> weights;
  PlacedChange result;
  const auto earlier = levels_of(before, metric, history);
  for (const auto& [now, us] : levels_of(after, metric, history))
    for (const auto& [then, us_then] : earlier) {
      if (statistics::places_differ(us, us_then)) continue;
      changes.push_back(change_between(now, then));
      weights.push_back(weight_of(now, then));
      result.from.insert(result.from.end(), {now.from, then.from});
    }
  if (changes.empty()) return std::nullopt;
  result.change = combined(changes, weights);
  return result;
}

}  // namespace torchstone::judge
