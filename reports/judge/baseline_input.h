#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/judge/upstream_tables.h"

namespace torchstone::judge {

/// Combines several runs of the same code. The run that started last gives statuses, sizes and counts. Timings combine
/// the processes of all runs in which the case is as expected, by cache domain (reports/statistics/processes.h).
/// Throws ReportError for runs of different machines or libraries, and for a run that occurs twice;
/// std::invalid_argument without a run.
Report pool_runs(std::vector<Report> runs);

/// The earlier side of a comparison: results, or a table that benchmarks/dynamo wrote.
struct Baseline {
  Report report;                       ///< results; several runs are combined
  std::optional<UpstreamTable> table;  ///< set instead of results
  std::vector<std::string> warnings;   ///< about damaged files
  size_t runs = 1;                     ///< number of runs in the report
};

/// Reads results folders or results.json files of one run each, or one CSV of upstream's. Throws ReportError.
Baseline read_baseline(const std::vector<std::string>& paths);

/// A table's rows as results of the report's cases.
struct MatchedTable {
  std::vector<Result> results;     ///< with the names of the report's cases
  std::vector<std::string> notes;  ///< what is compared with what, what is skipped and why
};

/// Matches each row with the cases of its model that agree with the row and the file name. Torchstone's name of a model
/// is tried before upstream's. Accuracy tables have the status and graph breaks. Performance tables have speedup,
/// abs_latency and compilation_latency. Rows without a measured speed-up or with another batch size are skipped with a
/// note. Throws ReportError "file:line: …" if a row matches several cases of one model.
MatchedTable match(const UpstreamTable& table, const Report& report);

/// Calls compare_with_baseline() for either kind of baseline. For a table, `options.metrics` defaults to speed-up and
/// graph breaks, as with upstream's --baseline, because its latencies come from another machine.
BaselineComparison compare_with(const Baseline& baseline, const Report& report, BaselineOptions options = {});

}  // namespace torchstone::judge
