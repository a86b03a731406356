#include "reports/judge/comparison/baseline_input.h"

#include <utility>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/judge/comparison/pooled_runs.h"
#include "reports/results_folder/merge.h"

namespace torchstone::judge {

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
