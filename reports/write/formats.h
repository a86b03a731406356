#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "reports/record/report_json.h"

// Reports as text. Every function is a pure function of its arguments.

namespace torchstone::write {

struct JUnitOptions {
  /// Writes <properties>, file and line inside <testcase>. Readers of GitHub and pytest use them; the strict schema of
  /// the Jenkins xUnit plug-in (junit-10.xsd) refuses files that have them.
  bool testcase_properties = true;
};

/// Writes one <testsuite> for each GoogleTest suite, in order of first appearance, with the environment as its
/// properties. The status table decides between failure, error and skipped. An expected failure is skipped; an
/// unexpected pass is a failure. The message is one short line, the content has everything. Numbers are also written to
/// system-out, because most readers drop properties. A name that occurs again gets " (2)", because GitLab drops
/// duplicates. If the exit code is not 0 and no case failed, a suite `torchstone` holds that one error.
std::string write_junit(const std::vector<Result>& results, const RunInfo& run, const JUnitOptions& options = {});

/// Writes results.csv: a row for every result, a column for every member and every declared metric. Numbers are exact,
/// with nan, inf and -inf as pandas and R read them. A cell is empty where nothing was measured or is known.
std::string write_wide_csv(const std::vector<Result>& results);

/// Writes summary.csv with the averages that upstream's driver prints (reports/record/summary.h) and their numbers of
/// cases: pass rate, geometric mean of the speed-ups, means of compile time and memory compression. A row covers one
/// suite, backend, dtype, mode, device, preset and choice of dynamic sizes. Further columns list what was left out, the
/// noisy rows and the detection limits (reports/record/doubts.h). An average over nothing is an empty cell.
std::string write_summary_csv(const std::vector<Result>& results);

/// Writes the metric largest_batch as lines NAME,SIZE for --torchstone_batch_size_file. A model with several values
/// gets the smallest. The text is empty without such metrics.
std::string write_batch_sizes(const std::vector<Result>& results);

/// Writes OpenMetrics text 1.0, for Prometheus and `artifacts:reports:metrics` of GitLab. Every metric of the metric
/// table is a gauge in its base unit (seconds, bytes, ratio), such as torchstone_eager_seconds{case="…",model="…"}.
/// Statuses are torchstone_case_info and torchstone_cases; undeclared metrics share torchstone_undeclared. Among
/// results of one name, one is chosen (reports/record/summary.h).
/// Source: OpenMetrics specification, sections "Text format" and "MetricFamily".
std::string write_openmetrics(const Report& report);

/// Writes workflow commands of GitHub Actions. At most eight `::error file=…,line=…,title=…::…` name unexpected cases
/// with cause and reproduction, and one more counts the rest: GitHub shows ten a step. Paths below `workspace` become
/// relative to it, as GitHub requires. A red run without unexpected cases gets an error with its exit code. A notice
/// names at most eight noisy speed-ups. The text is empty for a green run without noise.
/// Source: docs.github.com, "Workflow commands for GitHub Actions".
std::string write_annotations(const Report& report, const std::string& workspace);

}  // namespace torchstone::write
