#include "reports/judge/baseline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "reports/record/summary.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double one_reading_tolerance = 0.15;

using Samples = std::vector<double>;

bool is_timing(const MetricInfo& info) {
  return info.judged == Judged::by_rounds || info.judged == Judged::by_one_reading;
}
/// What an earlier comparison made of the case is another question.
bool status_is_fine(const Result& r) { return r.finished && r.status_as_expected(); }

std::string status_of(const Result& r) { return std::string(to_string(final_status(r))); }

const Samples& samples_of(const Result& r, const char* key) {
  static const Samples none;
  const auto found = r.outcome.samples.find(key);
  return found == r.outcome.samples.end() ? none : found->second;
}

/// The logarithms behind a metric, one a round; empty when the record has no usable samples.
Samples logs_of(const Result& r, std::string_view metric) {
  const Samples &eager = samples_of(r, "eager_s"), &compiled = samples_of(r, "compiled_s");
  try {
    if (metric == "speedup") return statistics::log_ratios(eager, compiled);
    const Samples& side = metric == "eager_ms" ? eager : compiled;
    return statistics::log_ratios(side, Samples(side.size(), 1.0));
  } catch (const std::invalid_argument&) {  // times of foreign make: zero, negative, of different number
    return {};
  }
}

Estimate log_change_by_rounds(const Result& before, const Result& after, const MetricChange& values,
                              const BaselineOptions& options) {
  const Samples new_logs = logs_of(after, values.metric);
  if (options.single_numbers && !new_logs.empty()) {
    const double in_units_of_samples = values.metric == "speedup" ? values.old_value : values.old_value / 1e3;
    const Estimate now = median_estimate(new_logs, options.confidence);
    const double then = std::log(in_units_of_samples);
    return {now.value - then, now.low - then, now.high - then};
  }
  const Samples old_logs = logs_of(before, values.metric);
  if (old_logs.empty() || new_logs.empty()) return {std::log(values.ratio), -infinity, infinity};
  return difference(median_estimate(new_logs, options.confidence), median_estimate(old_logs, options.confidence));
}

Change within(double log_ratio, double tolerance) {
  return std::abs(log_ratio) <= std::log1p(tolerance) ? Change::same : Change::ambiguous;
}

MetricChange change_of(const MetricInfo& info, const Result& before, const Result& after,
                       const BaselineOptions& options) {
  MetricChange change{std::string(info.key), before.outcome.metrics.at(std::string(info.key)),
                      after.outcome.metrics.at(std::string(info.key))};
  change.ratio = change.old_value == change.new_value ? 1 : change.new_value / change.old_value;
  change.ratio_low = change.ratio_high = change.ratio;
  if (info.judged == Judged::exactly) {
    const bool means_nothing = std::abs(change.new_value - change.old_value) <= info.slack;
    change.change = means_nothing ? Change::same : judge_exactly(change.old_value, change.new_value, info.better);
    return change;
  }
  change.single_number = options.single_numbers;
  change.ratio_low = 0, change.ratio_high = infinity;
  const double log_ratio = std::log(change.ratio);
  if (info.judged == Judged::by_one_reading) {
    change.change = within(log_ratio, std::max(options.tolerance, one_reading_tolerance));
    return change;
  }
  const Estimate by_rounds = log_change_by_rounds(before, after, change, options);
  const bool bounded = std::isfinite(by_rounds.low) && std::isfinite(by_rounds.high);
  change.ratio = std::exp(by_rounds.value);
  change.ratio_low = std::exp(by_rounds.low);
  change.ratio_high = std::exp(by_rounds.high);
  change.change = bounded ? judge(by_rounds, options.tolerance, info.better) : within(log_ratio, options.tolerance);
  return change;
}

/// Both sides moved alike and their ratio stayed: the machine moved.
void doubt_common_moves(std::vector<MetricChange>& metrics) {
  const auto find = [&](const char* key) {
    const auto found = std::ranges::find(metrics, key, &MetricChange::metric);
    return found == metrics.end() ? nullptr : &*found;
  };
  MetricChange *speedup = find("speedup"), *eager = find("eager_ms"), *compiled = find("compiled_ms");
  if (!speedup || !eager || !compiled || speedup->change != Change::same || eager->change != compiled->change) return;
  if (eager->change != Change::same) eager->change = compiled->change = Change::ambiguous;
}

/// The kind of the change, and of one kind how far the metrics moved that say so.
std::pair<size_t, double> badness(const CaseChange& c) {
  static constexpr std::array order = {Change::same, Change::faster,    Change::added,
                                       Change::gone, Change::ambiguous, Change::slower};
  double farthest = 0;
  for (const auto& metric : c.metrics)
    if (metric.change == c.change && metric.ratio > 0) farthest = std::max(farthest, std::abs(std::log(metric.ratio)));
  const size_t kind =
      c.status_worse ? order.size() : static_cast<size_t>(std::ranges::find(order, c.change) - order.begin());
  return {kind, farthest};
}

Change worse_of(Change a, Change b) {
  for (const Change change : {Change::slower, Change::ambiguous, Change::faster})
    if (a == change || b == change) return change;
  return Change::same;
}

CaseChange change_of(const Result& before, const Result& after, const BaselineOptions& options,
                     BaselineComparison& comparison) {
  CaseChange change{after.name, Change::same, status_of(before), status_of(after)};
  change.status_worse = status_is_fine(before) && !status_is_fine(after);
  if (is_left_out(before) && is_left_out(after)) return change;
  const bool same_machine = options.other_machine || comparison.machine_differences.empty();
  // All of them first: whether a latency is believed depends on the speed-up, asked for or not.
  for (const auto& info : metric_table()) {
    const std::string key(info.key);
    if (info.judged == Judged::never || !before.outcome.metrics.contains(key) || !after.outcome.metrics.contains(key))
      continue;
    if (is_timing(info) && !same_machine)
      comparison.timings_left_out += options.metrics.empty() || std::ranges::count(options.metrics, key) > 0;
    else
      change.metrics.push_back(change_of(info, before, after, options));
  }
  doubt_common_moves(change.metrics);
  if (!options.metrics.empty())
    std::erase_if(change.metrics, [&](const auto& m) { return std::ranges::count(options.metrics, m.metric) == 0; });

  if (change.status_worse)
    change.change = Change::slower;
  else if (is_left_out(before) || is_left_out(after))
    change.change = is_left_out(after) ? Change::gone : Change::added;
  else if (!status_is_fine(before) && status_is_fine(after))
    change.change = Change::faster;
  for (const auto& metric : change.metrics) {
    const bool counts = !is_of_eager(metric.metric) && find_metric(metric.metric)->judged != Judged::by_one_reading;
    if (counts && change.change != Change::gone && change.change != Change::added)
      change.change = worse_of(change.change, metric.change);
  }
  return change;
}

using Cases = std::map<std::pair<std::string, std::string>, const Result*>;

Cases cases_of(const Report& report) {
  Cases cases;
  for (const auto& result : report.results) cases[{result.name, result.device}] = &result;
  return cases;
}

void require_sense(const BaselineOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1))
    throw std::invalid_argument(fmt::format("confidence: expected between 0 and 1, found {}", options.confidence));
  if (!(options.tolerance >= 0 && options.tolerance < infinity))
    throw std::invalid_argument(fmt::format("tolerance: expected 0 or more, found {}", options.tolerance));
  for (const auto& key : options.metrics) {
    const MetricInfo* info = find_metric(key);
    if (info && info->judged != Judged::never) continue;
    std::string known;
    for (const auto& row : metric_table())
      if (row.judged != Judged::never) known += (known.empty() ? "" : ", ") + std::string(row.key);
    throw std::invalid_argument(fmt::format("metric: expected one of {}, found {}", known, key));
  }
}

}  // namespace

bool is_of_eager(const std::string& metric) { return metric.starts_with("eager_"); }

BaselineComparison compare_with_baseline(const Report& baseline, const Report& report, const BaselineOptions& options) {
  require_sense(options);
  BaselineComparison comparison;
  if (!options.single_numbers) comparison.machine_differences = machine_differences(baseline.run, report.run);
  const Cases before = cases_of(baseline), after = cases_of(report);
  for (const auto& [key, result] : after) {
    const auto found = before.find(key);
    comparison.cases.push_back(found == before.end() ? CaseChange{result->name, Change::added, "", status_of(*result)}
                                                     : change_of(*found->second, *result, options, comparison));
  }
  for (const auto& [key, result] : before)
    if (!after.contains(key)) comparison.cases.push_back({result->name, Change::gone, status_of(*result), ""});
  std::ranges::stable_sort(comparison.cases, std::greater(), badness);
  return comparison;
}

}  // namespace torchstone::judge
