// Hostile texts in every field of a report. Only Torchstone's colours and line controls may reach the terminal.
#include "tests/unit/reports/hostile.h"

#include <algorithm>
#include <regex>

#include <gmock/gmock.h>

#include "reports/base/csv_format.h"
#include "reports/base/text.h"
#include "reports/console/progress.h"
#include "reports/console/summary_text.h"
#include "reports/judge/baseline.h"
#include "reports/judge/baseline_report.h"
#include "reports/judge/history.h"
#include "reports/judge/table_gate.h"
#include "reports/record/verdict.h"
#include "tests/unit/reports/format_checks.h"

namespace torchstone::console {
namespace {

CsvTable table_of(const std::string& text) {
  return {
      text, {"name", "accuracy", "graph_breaks", "unique_graphs", "speedup"}, {{2, 2, {text, text, text, "1", text}}}};
}

/// Returns everything that the console shows of a report, with names.
std::vector<std::pair<std::string, std::string>> seen_of(const std::string& text) {
  const Report report = report_of(text);
  Report before = report;
  for (auto& r : before.results) r.outcome.metrics["speedup"] = 3;
  before.results.pop_back();
  before.run.build["torch"] = "another " + text;
  judge::BaselineComparison comparison = judge::compare_with_baseline(before, report, {.other_machine = true});
  comparison.cases[0].metrics.push_back({text, 1, 2, 2, 2, 2, judge::Change::slower});
  comparison.cases[0].old_status = comparison.cases[0].new_status + text;
  const auto points = judge::history_points(report);
  std::vector<std::pair<std::string, std::string>> seen;
  for (const bool color : {false, true})
    for (const auto& r : report.results) seen.emplace_back("row", console_row(r, color, color ? 100 : 0));
  seen.emplace_back("summary", write_summary(report.results, report.run, {text, text + ".html"}));
  seen.emplace_back("progress", progress_line({text, text, 1, 2, 1, 2, 3}, 200));
  seen.emplace_back("comparison", write_comparison(comparison, true));
  seen.emplace_back("history", judge::history_table(points, "speedup", 100));
  seen.emplace_back("history of a key", judge::history_table(points, text, 100));
  seen.emplace_back("history of nothing", judge::history_table(points, "no such " + text, 100));
  const CsvTable is = table_of(text), should = table_of(text + "x");
  seen.emplace_back("gate", judge::gate_text(judge::gate_accuracy(is, should, {})));
  seen.emplace_back("gate", judge::gate_text(judge::gate_graph_breaks(is, should, {})));
  seen.emplace_back("gate", judge::gate_text(judge::gate_speed(is, {.metric = "speedup", .threshold = 1}, {})));
  return seen;
}

std::string without_colors(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[(3[1236]|0)m"), "");
}

TEST(HostileTexts, ReachNoTerminal) {
  const auto harmless = seen_of("first words second words");
  for (const auto& hostile : texts_to_escape()) {
    const auto seen = seen_of(hostile);
    for (size_t i = 0; i < seen.size(); ++i) {
      const auto& [what, text] = seen[i];
      EXPECT_EQ(fault_of_log(without_colors(text)), "") << what;
      // A line break in a field must not start a line, which could look like the line of another case.
      if (what == "summary") continue;  // the summary wraps its lines
      EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(harmless[i].second, '\n')) << what << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace torchstone::console
