#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/judge/comparison/baseline.h"
#include "reports/judge/upstream/upstream_table.h"

namespace torchstone::judge {

/// What a run is compared with: results, or a table that benchmarks/dynamo wrote.
struct Baseline {
  Report report;                       ///< of results; of several runs as one (reports/judge/comparison/pooled_runs.h)
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
