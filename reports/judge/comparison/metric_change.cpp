#include "reports/judge/comparison/metric_change.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/judge/comparison/placed_change.h"
#include "reports/statistics/interval_width.h"

namespace torchstone::judge {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one_reading_tolerance = 0.15;

Change within(double log_ratio, double tolerance) {
  return std::abs(log_ratio) <= std::log1p(tolerance) ? Change::same : Change::ambiguous;
}

std::optional<RunToRun> run_to_run_of(const RunToRunOfCases& history, const std::string& name,
                                      const std::string& metric) {
  const auto found = history.find({name, metric});
  return found == history.end() ? std::nullopt : std::optional(found->second);
}

/// Of one number, and of threads that lay elsewhere, by the processes that count.
std::optional<PlacedChange> plain_change(const Result& before, const Result& after, const MetricChange& metric,
                                         const std::optional<RunToRun>& runs, bool single_number) {
  const auto now = level_of(after, metric.metric, runs);
  const auto then =
      single_number ? std::optional(Level{std::log(metric.old_value)}) : level_of(before, metric.metric, runs);
  if (!now || !then || !std::isfinite(then->value)) return std::nullopt;
  return PlacedChange{change_between(*now, *then), {now->from, then->from}};
}

void judge_timing(const MetricInfo& info, const Result& before, const Result& after, const BaselineOptions& options,
                  const RunToRunOfCases& history, MetricChange& change) {
  const auto runs = run_to_run_of(history, after.name, change.metric);
  auto moved = options.single_numbers ? std::nullopt : placed_change(before, after, change.metric, runs);
  const bool alike = moved.has_value();
  if (!alike) moved = plain_change(before, after, change, runs, options.single_numbers);
  if (!moved) {
    change.change = Change::ambiguous;  // without an interval nothing is known, however near the two numbers are
    return;
  }
  const Estimate estimate = moved->change.estimate(options.confidence);
  change.ratio = std::exp(estimate.value);
  change.ratio_low = std::exp(estimate.low);
  change.ratio_high = std::exp(estimate.high);
  // A single number is rounded, and of another machine: that nothing changed says little there.
  change.chance_of_worse = moved->change.chance_of_worse(options.single_numbers ? options.tolerance : 0, info.better);
  for (const LevelFrom from : moved->from) {
    change.by_history = change.by_history || from == LevelFrom::history;
    change.by_rounds = change.by_rounds || from == LevelFrom::rounds;
  }
  change.change = statistics::is_bounded(change.ratio_low, change.ratio_high)
                      ? judge(estimate, options.tolerance, info.better)
                      : Change::ambiguous;
  // Of a machine in two states the difference is the machine's.
  change.other_places = !alike && !options.single_numbers;
  if (!change.other_places) return;
  change.chance_of_worse = 1;
  if (change.change != Change::same) change.change = Change::ambiguous;
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
    change.change = means_nothing ? Change::same : judge_exactly(change.old_value, change.new_value, info.better);
    return change;
  }
  change.single_number = options.single_numbers;
  change.ratio_low = 0, change.ratio_high = infinity;
  if (info.judged == Judged::by_one_reading)
    change.change = within(std::log(change.ratio), std::max(options.tolerance, one_reading_tolerance));
  else
    judge_timing(info, before, after, options, history, change);
  return change;
}

}  // namespace torchstone::judge
