#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/report_writer.h>

#include "reports/judge/baseline.h"
#include "reports/judge/tournament_ranking.h"

// Reports as text. Every function is a pure function of its arguments.

namespace torchstone::write {

/// Writes one <testsuite> for each GoogleTest suite (docs/results.md). Numbers are also written to system-out, because
/// most readers drop properties. A name that occurs again gets " (2)", because GitLab drops duplicates. If the exit
/// code is not 0 and no case failed, a suite `torchstone` holds that one error. `options.testcase_properties` also adds
/// file and line to <testcase>, which the strict schema of the Jenkins xUnit plug-in (junit-10.xsd) refuses.
std::string write_junit(const std::vector<Result>& results, const RunInfo& run, const WriteOptions& options = {});

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
/// Source: OpenMetrics specification, sections "Text format" and "MetricFamily".
std::string write_openmetrics(const Report& report);

/// Writes the JSON that pytorch/test-infra's action upload-benchmark-results reads, schema v3: a list with one record
/// for each number of a case. Names and units are those of upstream's tables (reports/record/tables/upstream_csv.h).
/// Other metrics that a comparison judges have those of the metric table. As in upstream's own records, a status is a
/// text in the metric's extra_info. Numbers that are not finite have no record.
/// Source: github.com/pytorch/pytorch/wiki/PyTorch-OSS-benchmark-infra; benchmarks/dynamo/common.py, output_json().
std::string write_benchmark_database(const Report& report);

/// Writes the files for github-action-benchmark's tools customSmallerIsBetter and customBiggerIsBetter, with the
/// metrics that a comparison judges. The tool refuses an empty list, so the text of a file without an entry is empty,
/// and the file is not written.
NamedTexts write_benchmark_action(const Report& report);

/// Writes workflow commands of GitHub Actions (docs.github.com, "Workflow commands for GitHub Actions"): at most eight
/// errors, a count, and a notice about noisy speed-ups. GitHub shows ten errors per step. Paths below `workspace`
/// become relative to it, as GitHub requires. The text is empty for a green run without noise.
std::string write_annotations(const Report& report, const std::string& workspace);

/// Returns text that GitHub shows literally, on one line, also in a table. Markup and HTML are escaped; no name becomes
/// a mention, and no number a link to an issue.
std::string markdown_text(std::string_view text);
/// Returns the text as a code span on one line. `in_table` escapes pipes, which would end the cell.
std::string markdown_code(std::string_view text, bool in_table = false);
/// Returns the text as a code block.
std::string markdown_block(std::string_view text);

struct MarkdownOptions {
  size_t limit = 200'000;  ///< bytes; GitHub drops a job summary above 1 MiB and a comment above 64 KiB
  std::optional<judge::BaselineComparison> comparison{};
};

/// Returns a job summary or a comment for GitHub. A line counts the rows that do not fit. A workflow finds its own
/// comment by the first line, `<!-- torchstone -->`.
std::string write_markdown(const Report& report, const MarkdownOptions& options = {});

/// Writes tournament.json, schema "torchstone/tournament/1": the run, its sweeps, and each model. A model has its
/// verdict, its advice by number of calls, and every variant with row, samples and intervals. As for results.json, the
/// number in the schema grows if a reader of the old form would misunderstand the new one.
std::string write_tournament_json(const std::vector<judge::Tournament>& tournaments, const RunInfo& run);

/// Writes tournament.html, a self-contained page without a script. Each model has its verdict, bars with intervals,
/// advice by number of calls, ways to ship, plots of the front, all numbers, and the variants that were not timed.
std::string write_tournament_page(const std::vector<judge::Tournament>& tournaments, const RunInfo& run);

}  // namespace torchstone::write
