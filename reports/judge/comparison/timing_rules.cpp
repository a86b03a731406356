#include "reports/judge/comparison/timing_rules.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "reports/judge/comparison/level.h"
#include "reports/statistics/interval_width.h"

namespace torchstone::judge {
namespace {

MetricChange* find(CaseChange& c, std::string_view metric) {
  const auto found = std::ranges::find(c.metrics, metric, &MetricChange::metric);
  return found == c.metrics.end() ? nullptr : &*found;
}

bool has_interval(const MetricChange& m) { return statistics::is_bounded(m.ratio_low, m.ratio_high); }

void hold_family_error(std::vector<CaseChange>& cases, double error) {
  std::vector<MetricChange*> family;
  std::vector<double> chances;
  for (auto& c : cases) {
    MetricChange *speedup = find(c, "speedup"), *compiled = find(c, "compiled_ms");
    MetricChange* telling = speedup != nullptr ? speedup : compiled;
    if (telling == nullptr || !has_interval(*telling)) continue;
    family.push_back(telling);
    chances.push_back(telling->chance_of_worse);
  }
  const std::vector<bool> rejected = holm(chances, error);
  for (size_t i = 0; i < family.size(); ++i)
    if (family[i]->change == Change::slower && !rejected[i]) family[i]->change = Change::ambiguous;
}

std::optional<Drift> drift_in(std::vector<CaseChange>& cases) {
  std::vector<double> changes;
  for (auto& c : cases)
    if (const MetricChange* eager = find(c, "eager_ms");
        eager != nullptr && has_interval(*eager) && !eager->other_places)
      changes.push_back(std::log(eager->ratio));
  return drift_of(changes);
}

void tell_sides_apart(CaseChange& c, double drift, double tolerance) {
  MetricChange *speedup = find(c, "speedup"), *eager = find(c, "eager_ms"), *compiled = find(c, "compiled_ms");
  if (speedup == nullptr || eager == nullptr || compiled == nullptr) return;
  const bool compiled_stayed =
      has_interval(*compiled) && std::log(compiled->ratio_high) - drift <= std::log1p(tolerance);
  if (speedup->change == Change::slower && compiled_stayed) speedup->change = Change::ambiguous;
  const bool compiled_moved = compiled->change == Change::slower || compiled->change == Change::faster;
  if (!compiled_moved || speedup->change == compiled->change) return;
  if (compiled->change == Change::faster && eager->change == Change::same) return;
  if (eager->change == compiled->change) eager->change = Change::ambiguous;
  compiled->change = Change::ambiguous;
}

}  // namespace

std::optional<Drift> settle_timings(std::vector<CaseChange>& cases, const BaselineOptions& options) {
  hold_family_error(cases, options.family_error);
  if (options.single_numbers) return std::nullopt;  // of another machine
  const auto drift = drift_in(cases);
  const bool moved = drift && drift->moved(options.tolerance);
  for (auto& c : cases) tell_sides_apart(c, moved ? drift->centre : 0, options.tolerance);
  return drift;
}

}  // namespace torchstone::judge
