#include "reports/judge/baseline_input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/judge/baseline.h"
#include "reports/judge/level.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/statistics/processes.h"

namespace torchstone::judge {
namespace {

constexpr const char* counted = "";
constexpr const char* uncounted = "uncounted_";
constexpr std::array timing_metrics = {"speedup", "eager_ms", "compiled_ms"};

/// Records of older versions do not say that one process took their rounds.
void name_one_process(Result& result) {
  const size_t rounds = samples_of(result, "eager_s").size();
  if (rounds > 0) result.outcome.samples.try_emplace("process_rounds", 1, static_cast<double>(rounds));
}

/// Whether both have processes of this kind, and their threads lay alike.
bool alike(const Result& to, const std::string& kind, const Result& from, const std::string& other_kind) {
  return !samples_of(to, kind + "process_rounds").empty() && !samples_of(from, other_kind + "process_rounds").empty() &&
         !statistics::places_differ(fork_join_us_of(to, kind), fork_join_us_of(from, other_kind));
}

void append(Result& to, const std::string& kind, const Result& from, const std::string& other_kind) {
  for (const char* key : {"eager_s", "compiled_s", "process_rounds", "process_fork_join_us"}) {
    const auto& values = samples_of(from, other_kind + key);
    auto& all = to.outcome.samples[kind + key];
    all.insert(all.end(), values.begin(), values.end());
  }
}

void add_processes(Result& to, const Result& from) {
  if (alike(to, counted, from, counted))
    append(to, counted, from, counted);
  else if (alike(to, uncounted, from, counted))
    append(to, uncounted, from, counted);
  if (alike(to, uncounted, from, uncounted)) append(to, uncounted, from, uncounted);
}

/// The numbers that stand for the samples.
void settle(Result& result) {
  for (const char* metric : timing_metrics)
    if (const auto level = level_of(result, metric); level && result.outcome.metrics.contains(metric))
      result.outcome.metrics[metric] = std::exp(level->value);
}

/// Those that were timed and are as they should be.
auto timed_cases_of(Report& report) {
  auto cases = cases_of(report);
  std::erase_if(cases, [](const auto& c) {
    const Result& result = *c.second;
    return !result.finished || !result.status_as_expected() || !result.outcome.metrics.contains("speedup");
  });
  for (const auto& [key, result] : cases) name_one_process(*result);
  return cases;
}

/// Timings of another batch size or of another model are not pooled.
bool same_program(const Result& a, const Result& b) {
  return a.batch_size == b.batch_size && other_parts_of(a.outcome.model, b.outcome.model).empty();
}

void require_same_machine(const Report& last, const Report& other) {
  const auto differences = machine_differences(other.run, last.run);
  if (!differences.empty())
    throw ReportError(fmt::format("the runs of a baseline are not of one machine and version: {} (started {} and {})",
                                  fmt::join(differences, "; "), last.run.started, other.run.started));
}

}  // namespace

Report pool_runs(std::vector<Report> runs) {
  if (runs.empty()) throw std::invalid_argument("runs: one at least expected");
  std::ranges::stable_sort(runs, {}, [](const Report& report) { return report.run.started; });
  std::set<std::string> ids;
  for (const auto& report : runs)
    if (!report.run.id.empty() && !ids.insert(report.run.id).second)
      throw ReportError(fmt::format("the baseline has the run {} twice (expected different runs)", report.run.id));
  Report pooled = std::move(runs.back());
  runs.pop_back();
  if (runs.empty()) return pooled;
  const auto cases = timed_cases_of(pooled);
  for (auto& run : runs) {
    require_same_machine(pooled, run);
    for (const auto& [key, result] : timed_cases_of(run))
      if (const auto found = cases.find(key); found != cases.end() && same_program(*result, *found->second))
        add_processes(*found->second, *result);
  }
  for (const auto& [key, result] : cases) settle(*result);
  return pooled;
}

Baseline read_baseline(const std::vector<std::string>& paths) {
  Baseline baseline;
  std::vector<Report> runs;
  for (const auto& path : paths) {
    if (is_upstream_table(path)) {
      if (paths.size() == 1) return {{}, read_upstream_table(path), {}};
      throw ReportError(path + ": a table of benchmarks/dynamo is no run (expected it as the only baseline)");
    }
    results_folder::Merged merged = results_folder::merge_results({path});
    baseline.warnings.insert(baseline.warnings.end(), merged.warnings.begin(), merged.warnings.end());
    if (paths.size() > 1 && merged.report.results.empty())
      throw ReportError(path + ": no results (expected a run in each of several baselines)");
    runs.push_back(std::move(merged.report));
  }
  baseline.runs = runs.size();
  baseline.report = pool_runs(std::move(runs));
  return baseline;
}

BaselineComparison compare_with(const Baseline& baseline, const Report& report, BaselineOptions options) {
  if (!baseline.table) {
    BaselineComparison comparison = compare_with_baseline(baseline.report, report, options);
    if (baseline.runs > 1)
      comparison.notes.insert(comparison.notes.begin(),
                              fmt::format("The baseline is {} runs: timings are of all their processes, the rest is of "
                                          "the last run, started {}",
                                          baseline.runs, baseline.report.run.started));
    return comparison;
  }
  MatchedTable matched = match(*baseline.table, report);
  options.single_numbers = true;
  if (options.metrics.empty()) options.metrics = {"speedup", "graph_breaks"};
  BaselineComparison comparison = compare_with_baseline({{}, std::move(matched.results)}, report, options);
  comparison.notes.insert(comparison.notes.begin(), matched.notes.begin(), matched.notes.end());
  return comparison;
}

}  // namespace torchstone::judge
