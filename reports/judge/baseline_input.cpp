#include "reports/judge/baseline_input.h"

#include <utility>

#include "reports/results_folder/merge.h"

namespace torchstone::judge {

Baseline read_baseline(const std::filesystem::path& path) {
  if (is_upstream_table(path)) return {{}, read_upstream_table(path), {}};
  results_folder::Merged merged = results_folder::merge_results({path});
  return {std::move(merged.report), std::nullopt, std::move(merged.warnings)};
}

BaselineComparison compare_with(const Baseline& baseline, const Report& report, BaselineOptions options) {
  if (!baseline.table) return compare_with_baseline(baseline.report, report, options);
  MatchedTable matched = match(*baseline.table, report);
  options.single_numbers = true;
  if (options.metrics.empty()) options.metrics = {"speedup", "graph_breaks"};
  BaselineComparison comparison = compare_with_baseline({{}, std::move(matched.results)}, report, options);
  comparison.notes.insert(comparison.notes.begin(), matched.notes.begin(), matched.notes.end());
  return comparison;
}

}  // namespace torchstone::judge
