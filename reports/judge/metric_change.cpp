// The change of one metric of a case, and the decision which side of the timings moved.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "reports/judge/baseline.h"
#include "reports/judge/level.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/statistics/processes.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one_reading_tolerance = 0.15;

/// The change of a timing, measured with threads in the same cache domain, in different ones, or in both ways.
struct PlacedChange {
  LevelChange change;
  std::vector<LevelFrom> from;  ///< sources of its levels
};

struct PlacedLevel {
  Level level;
  double fork_join_us = 0;  ///< 0: unknown
};

std::vector<PlacedLevel> placed_levels(const Result& result, const std::string& metric,
                                       const std::optional<RunToRun>& history) {
  std::vector<PlacedLevel> levels;
  if (const auto counted = estimate_level(result, metric, history))
    levels.push_back({*counted, median_fork_join_us(result)});
  if (const auto others = estimate_uncounted_level(result, metric, history))
    levels.push_back({*others, median_fork_join_us(result, "uncounted_")});
  return levels;
}

/// Compares only processes whose threads were placed alike (reports/statistics/processes.h): in the same cache domain,
/// or in different ones. Returns the mean of both changes, weighted by the number of processes. Returns nothing if the
/// records have no placement in common, or no usable samples.
std::optional<PlacedChange> placed_change(const Result& before, const Result& after, const std::string& metric,
                                          const std::optional<RunToRun>& history) {
  std::vector<LevelChange> changes;
  std::vector<double> weights;
  PlacedChange result;
  const auto earlier = placed_levels(before, metric, history);
  for (const auto& [now, us] : placed_levels(after, metric, history))
    for (const auto& [then, us_then] : earlier) {
      if (statistics::places_differ(us, us_then)) continue;
      changes.push_back(change_between(now, then));
      // Inverse variance of the difference of two means, up to the common variance of one value.
      weights.push_back(now.processes * then.processes / (now.processes + then.processes));
      result.from.insert(result.from.end(), {now.from, then.from});
    }
  if (changes.empty()) return std::nullopt;
  result.change = combined(changes, weights);
  return result;
}

/// Compares the counted processes. Used for a single number, and if the records have no placement in common.
std::optional<PlacedChange> plain_change(const Result& before, const Result& after, const MetricChange& metric,
                                         const std::optional<RunToRun>& runs, bool single_number) {
  const auto now = estimate_level(after, metric.metric, runs);
  const auto then =
      single_number ? std::optional(Level{std::log(metric.old_value)}) : estimate_level(before, metric.metric, runs);
  if (!now || !then || !std::isfinite(then->value)) return std::nullopt;
  return PlacedChange{change_between(*now, *then), {now->from, then->from}};
}

/// Returns the change of a varying number of bytes as MORE or LESS. Fewer bytes are better.
Change of_bytes(Change change) {
  return change == Change::slower ? Change::more : change == Change::faster ? Change::less : change;
}

void judge_timing(const MetricInfo& info, const Result& before, const Result& after, const BaselineOptions& options,
                  const RunToRunOfCases& history, MetricChange& change) {
  const auto found = history.find({after.name, change.metric});
  const auto runs = found == history.end() ? std::nullopt : std::optional(found->second);
  auto moved = options.single_numbers ? std::nullopt : placed_change(before, after, change.metric, runs);
  const bool alike = moved.has_value();
  if (!alike) moved = plain_change(before, after, change, runs, options.single_numbers);
  if (!moved) {
    change.change = Change::ambiguous;  // no interval is known
    return;
  }
  const Estimate estimate = moved->change.estimate(options.confidence);
  change.ratio = std::exp(estimate.value);
  change.ratio_low = std::exp(estimate.low);
  change.ratio_high = std::exp(estimate.high);
  // A single number is rounded and comes from another machine, so the hypothesis allows for the tolerance.
  change.chance_of_worse = moved->change.chance_of_worse(options.single_numbers ? options.tolerance : 0, info.better);
  for (const LevelFrom from : moved->from) {
    change.by_history = change.by_history || from == LevelFrom::history;
    change.by_rounds = change.by_rounds || from == LevelFrom::rounds;
  }
  change.change = statistics::is_bounded(change.ratio_low, change.ratio_high)
                      ? judge(estimate, options.tolerance, info.better)
                      : Change::ambiguous;
  if (info.unit == "B") change.change = of_bytes(change.change);
  // With different placements of the threads, the machine may have caused the difference.
  change.other_places = !alike && !options.single_numbers;
  if (change.change == Change::slower || change.change == Change::faster)
    change.at_least = certain_factor(estimate, change.other_places ? max_lost_across_caches : 1);
  if (!change.other_places) return;
  change.chance_of_worse = 1;
  if (change.change != Change::same && !change.at_least) change.change = Change::ambiguous;
}

MetricChange* find(CaseChange& c, std::string_view metric) {
  const auto found = std::ranges::find(c.metrics, metric, &MetricChange::metric);
  return found == c.metrics.end() ? nullptr : &*found;
}

bool has_interval(const MetricChange& m) { return statistics::is_bounded(m.ratio_low, m.ratio_high); }

/// Whether the metric is a time or an instruction count of the compiles of a case, and counts for the case.
bool is_of_compiles(const std::string& metric) {
  const MetricInfo* info = find_metric(metric);
  return info != nullptr && info->judged == Judged::by_processes && !info->only_shown && info->unit != "B";
}

/// Lowers SLOWER to AMBIGUOUS if Holm's test does not confirm it. A change by far (certain_factor()) stays.
void hold_family_error(std::vector<CaseChange>& cases, double error) {
  std::vector<MetricChange*> family;
  std::vector<double> chances;
  for (auto& c : cases) {
    MetricChange *speedup = find(c, "speedup"), *compiled = find(c, "compiled_ms");
    const auto add = [&](MetricChange& telling) {
      if (!has_interval(telling)) return;
      family.push_back(&telling);
      chances.push_back(telling.chance_of_worse);
    };
    if (MetricChange* telling = speedup != nullptr ? speedup : compiled; telling != nullptr) add(*telling);
    for (auto& m : c.metrics)
      if (is_of_compiles(m.metric)) add(m);
  }
  const std::vector<bool> rejected = holm(chances, error);
  for (size_t i = 0; i < family.size(); ++i)
    if (family[i]->change == Change::slower && !rejected[i] && !family[i]->at_least)
      family[i]->change = Change::ambiguous;
}

std::optional<Drift> drift_in(std::vector<CaseChange>& cases) {
  std::vector<double> changes;
  // Another program may have another time of eager.
  for (auto& c : cases)
    if (const MetricChange* eager = find(c, "eager_ms");
        eager != nullptr && has_interval(*eager) && !eager->other_places && !c.other_parts.program)
      changes.push_back(std::log(eager->ratio));
  return estimate_drift(changes);
}

/// Decides which side moved: compiled code, eager or the machine.
void settle_sides(CaseChange& c, double drift, double tolerance) {
  MetricChange *speedup = find(c, "speedup"), *eager = find(c, "eager_ms"), *compiled = find(c, "compiled_ms");
  if (speedup == nullptr || eager == nullptr || compiled == nullptr) return;
  const bool compiled_stayed =
      has_interval(*compiled) && std::log(compiled->ratio_high) - drift <= std::log1p(tolerance);
  const auto lower = [](MetricChange& change) {
    change.change = Change::ambiguous;
    change.at_least.reset();
  };
  if (speedup->change == Change::slower && compiled_stayed) lower(*speedup);
  const bool compiled_moved = compiled->change == Change::slower || compiled->change == Change::faster;
  if (!compiled_moved || speedup->change == compiled->change) return;
  if (compiled->change == Change::faster && eager->change == Change::same) return;
  // An edited program may slow down eager as well. The machine may have caused a small loss, but not one by far.
  if (c.other_parts.program && compiled->change == Change::slower && compiled->at_least &&
      certain_factor({0, std::log(*compiled->at_least), infinity}, std::exp(std::max(drift, 0.0))))
    return;
  if (eager->change == compiled->change) lower(*eager);
  lower(*compiled);
}

}  // namespace

MetricChange change_of(const MetricInfo& info, const Result& before, const Result& after,
                       const BaselineOptions& options, const RunToRunOfCases& history) {
  const std::string key(info.key);
  MetricChange change{key, before.outcome.metrics.at(key), after.outcome.metrics.at(key)};
  change.ratio = change.old_value == change.new_value ? 1 : change.new_value / change.old_value;
  change.ratio_low = change.ratio_high = change.ratio;
  if (info.judged == Judged::exactly) {
    const bool means_nothing = std::abs(change.new_value - change.old_value) <= info.slack;
    change.change = means_nothing ? Change::same : judge_exactly(change.old_value, change.new_value);
    return change;
  }
  change.single_number = options.single_numbers;
  change.ratio_low = 0, change.ratio_high = infinity;
  if (info.judged == Judged::by_one_reading) {
    const double band = std::log1p(std::max(options.tolerance, one_reading_tolerance));
    change.change = std::abs(std::log(change.ratio)) <= band ? Change::same : Change::ambiguous;
  } else {
    judge_timing(info, before, after, options, history, change);
  }
  return change;
}

std::optional<Drift> settle_timings(std::vector<CaseChange>& cases, const BaselineOptions& options) {
  hold_family_error(cases, options.family_error);
  if (options.single_numbers) return std::nullopt;  // the baseline is from another machine
  const auto drift = drift_in(cases);
  const bool moved = drift && drift->moved(options.tolerance);
  for (auto& c : cases) settle_sides(c, moved ? drift->centre : 0, options.tolerance);
  return drift;
}

}  // namespace torchstone::judge
