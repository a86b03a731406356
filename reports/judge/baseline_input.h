#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/judge/upstream_tables.h"
#include "reports/record/report_json.h"

namespace torchstone::judge {

/// Several runs of the same code as one. Statuses, sizes and counts are those of the run that started last. A timing is
/// that of the processes of all runs in which the case is as it should be, so that it is known better than one run
/// knows it: processes whose threads lay elsewhere than those of the last run (reports/statistics/processes.h)
/// stay by themselves, or are left out. A run that timed a case in one process has given one.
///
/// Throws ReportError for two runs of different machines or libraries, and for the same run twice;
/// std::invalid_argument without a run.
Report pool_runs(std::vector<Report> runs);

/// What a run is compared with: results, or a table that benchmarks/dynamo wrote.
struct Baseline {
  Report report;                       ///< of results; of several runs as one
  std::optional<UpstreamTable> table;  ///< then there are no results
  std::vector<std::string> warnings;   ///< damaged files
  size_t runs = 1;                     ///< that the report was made of
};

/// Results folders or results.json files of one run each, or one CSV of upstream's. Throws ReportError.
Baseline read_baseline(const std::vector<std::string>& paths);

/// A table's rows as results of the report's cases.
struct MatchedTable {
  std::vector<Result> results;     ///< with the names of the report's cases
  std::vector<std::string> notes;  ///< what is compared with what, what is not and why, for people
};

/// Each row stands for the cases of its model that agree with what row and file name say: check, device type, suite,
/// mode, dtype, backend, preset. A case is known by upstream's name of its model (the note upstream_name of its record)
/// or by its own, which goes before. Rows of other models are left out and counted.
///
/// From a table of accuracy come the status and the graph breaks. From one of performance come speedup, abs_latency and
/// compilation_latency; a row whose speed-up is 0, nan or inf was not measured, and one of another batch size is of
/// another program: neither is compared, and a note says so.
///
/// Throws ReportError "file:line: …" when a row may be any of several cases of one model.
MatchedTable match(const UpstreamTable& table, const Report& report);

/// compare_with_baseline() for either kind. With a table and no `options.metrics` only speed-up and graph breaks are
/// judged, as upstream's --baseline has it: its latencies are of another machine.
BaselineComparison compare_with(const Baseline& baseline, const Report& report, BaselineOptions options = {});

}  // namespace torchstone::judge
