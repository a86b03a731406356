#include "reports/judge/level.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "reports/record/metric.h"
#include "reports/record/summary.h"
#include "reports/statistics/processes.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

constexpr double default_between = 2.8, least_default = 0.02, default_degrees = 3, least_of_history = 0.005;
constexpr double trimmed_share = 0.1;
constexpr double interval_confidence = 0.95, normal_quantile = 1.959964;
constexpr size_t least_runs = 5, least_uncounted = 3;
constexpr double variances_differ = 0.05;

using Samples = std::vector<double>;

/// Returns the logarithms of a metric, one per round.
Samples logs_by_round(const Result& r, const std::string& metric, const std::string& prefix) {
  const Samples &eager = samples_of(r, prefix + "eager_s"), &compiled = samples_of(r, prefix + "compiled_s");
  if (metric == "speedup") return statistics::log_ratios(eager, compiled);
  const Samples& side = metric == "eager_ms" ? eager : compiled;
  const double seconds_of_unit = 1e-3;
  return statistics::log_ratios(side, Samples(side.size(), seconds_of_unit));
}

Level of_processes(const Samples& medians, const std::optional<RunToRun>& history) {
  const auto [mean, variance, degrees] = statistics::trimmed_mean(medians, trimmed_share);
  if (history && history->deviation * history->deviation > variance)
    return {mean, history->deviation * history->deviation, history->degrees, LevelFrom::runs, degrees + 1};
  return {mean, variance, degrees, LevelFrom::processes, degrees + 1};
}

std::optional<Level> of_one_process(Samples logs, const std::optional<RunToRun>& history) {
  const auto indices = statistics::median_interval(logs.size(), interval_confidence);
  if (!indices) return std::nullopt;
  std::ranges::sort(logs);
  const double centre = statistics::median(logs);
  if (history) return Level{centre, history->deviation * history->deviation, history->degrees, LevelFrom::history, 1};
  const double error = (logs[indices->high] - logs[indices->low]) / 2 / normal_quantile;
  const double deviation = std::max(default_between * error, least_default);
  return Level{centre, deviation * deviation, default_degrees, LevelFrom::rounds, 1};
}

/// Returns the level of the processes whose samples have this prefix.
std::optional<Level> level_of(const Result& result, const std::string& metric, const std::optional<RunToRun>& history,
                              const std::string& prefix) try {
  if (const MetricInfo* info = find_metric(metric); info != nullptr && info->judged == Judged::by_processes) {
    const Samples& values = samples_of(result, prefix + metric);
    if (values.size() < 2) return std::nullopt;
    return of_processes(statistics::log_ratios(values, Samples(values.size(), 1.0)), history);
  }
  const Samples logs = logs_by_round(result, metric, prefix);
  if (logs.empty()) return std::nullopt;
  const Samples& lengths = samples_of(result, prefix + "process_rounds");
  if (lengths.size() < 2) return of_one_process(logs, history);
  return of_processes(statistics::medians(statistics::by_process(logs, lengths)), history);
} catch (const std::invalid_argument&) {  // foreign samples: zero, negative, or series of different length
  return std::nullopt;
}

/// Whether an F test accepts that the processes of both have the same variance, as those of unchanged code do.
bool vary_alike(const Level& a, const Level& b) {
  if (a.from != LevelFrom::processes || b.from != LevelFrom::processes) return false;
  if (a.variance == 0 || b.variance == 0) return false;
  const auto tail = [](const Level& more, const Level& less) {
    return statistics::fisher_tail(more.variance * more.processes / (less.variance * less.processes), more.degrees,
                                   less.degrees);
  };
  return std::min(tail(a, b), tail(b, a)) > variances_differ;
}

/// Compares by Student's t, with a common variance of the processes.
LevelChange students(const Level& after, const Level& before) {
  const double degrees = after.degrees + before.degrees;
  const double of_process =
      (after.variance * after.processes * after.degrees + before.variance * before.processes * before.degrees) /
      degrees;
  return {after.value - before.value, std::sqrt(of_process * (1 / after.processes + 1 / before.processes)), degrees};
}

}  // namespace

double median_fork_join_us(const Result& result, const std::string& prefix) {
  const auto& us = samples_of(result, prefix + "process_fork_join_us");
  return us.empty() ? 0 : statistics::median(us);
}

RunToRunOfCases run_to_run(const std::vector<HistoryPoint>& history, const std::string& machine) {
  RunToRunOfCases found;
  for (const char* metric : {"speedup", "eager_ms", "compiled_ms", "cold_compile_cpu_s", "warm_compile_cpu_s"}) {
    for (const auto& series : case_series(history, metric)) {
      Samples logs;
      for (const double value : series.values)
        if (std::isfinite(value) && value > 0) logs.push_back(std::log(value));
      if (series.machine != machine || logs.size() < least_runs) continue;
      double squares = 0;
      for (size_t i = 1; i < logs.size(); ++i) squares += (logs[i] - logs[i - 1]) * (logs[i] - logs[i - 1]);
      const auto differences = static_cast<double>(logs.size() - 1);
      found[{series.name, metric}] = {std::max(std::sqrt(squares / differences / 2), least_of_history),
                                      std::max(1.0, differences * 2 / 3)};
    }
  }
  return found;
}

std::optional<Level> estimate_level(const Result& result, const std::string& metric,
                                    const std::optional<RunToRun>& history) {
  return level_of(result, metric, history, "");
}

std::optional<Level> estimate_uncounted_level(const Result& result, const std::string& metric,
                                              const std::optional<RunToRun>& history) {
  if (samples_of(result, "uncounted_process_rounds").size() < least_uncounted) return std::nullopt;
  return level_of(result, metric, history, "uncounted_");
}

Estimate LevelChange::estimate(double confidence) const {
  const double reach = error == 0 ? 0 : error * statistics::student_bound((1 - confidence) / 2, degrees);
  return {value, value - reach, value + reach};
}

double LevelChange::chance_of_worse(double tolerance, Better better) const {
  const double loss = better == Better::higher ? -value : value, beyond = loss - std::log1p(tolerance);
  if (better == Better::neither || beyond <= 0) return 1;
  return error == 0 ? 0 : statistics::student_tail(beyond / error, degrees);
}

LevelChange change_between(const Level& after, const Level& before) {
  if (vary_alike(after, before)) return students(after, before);
  const double variance = after.variance + before.variance;
  const auto part = [](const Level& level) {
    return level.variance == 0 ? 0 : level.variance * level.variance / level.degrees;
  };
  const double parts = part(after) + part(before);
  double degrees = parts > 0 ? variance * variance / parts : 1;
  // Both variances come from one estimate, so its degrees of freedom count only once.
  const auto of_history = [](const Level& level) {
    return level.from == LevelFrom::history || level.from == LevelFrom::runs;
  };
  if (of_history(after) && of_history(before)) degrees = std::min(after.degrees, before.degrees);
  return {after.value - before.value, std::sqrt(variance), std::max(1.0, degrees)};
}

LevelChange combined(const std::vector<LevelChange>& changes, const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (changes.empty() || changes.size() != weights.size() || sum <= 0)
    throw std::invalid_argument("changes: one at least, and a weight for each, expected");
  LevelChange mean;
  double variance = 0, parts = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    const double weight = weights[i] / sum, part = std::pow(weight * changes[i].error, 2);
    mean.value += weight * changes[i].value;
    variance += part;
    parts += part * part / changes[i].degrees;
  }
  mean.error = std::sqrt(variance);
  mean.degrees = parts > 0 ? variance * variance / parts : changes.front().degrees;
  return mean;
}

std::vector<bool> holm(const std::vector<double>& chances, double error) {
  std::vector<size_t> order(chances.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) { return chances[i]; });
  std::vector<bool> rejected(chances.size(), false);
  for (size_t i = 0; i < order.size(); ++i) {
    if (!(chances[order[i]] <= error / static_cast<double>(order.size() - i))) break;
    rejected[order[i]] = true;
  }
  return rejected;
}

}  // namespace torchstone::judge
