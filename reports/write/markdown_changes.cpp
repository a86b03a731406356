#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/judge/comparison/baseline_report.h"
#include "reports/record/metric.h"
#include "reports/write/markdown.h"
#include "reports/write/markdown_parts.h"

namespace torchstone::write {
namespace {

/// The metrics that are not the same, "compiled, median 12 ms → 15 ms".
std::string changes_of(const judge::CaseChange& c) {
  std::vector<std::string> parts;
  for (const auto& metric : c.metrics) {
    if (metric.change == judge::Change::same) continue;
    const MetricInfo* info = find_metric(metric.metric);
    parts.push_back(fmt::format("{} {} → {} ({})", info == nullptr ? metric.metric : info->title,
                                format_metric(metric.metric, metric.old_value),
                                format_metric(metric.metric, metric.new_value), to_string(metric.change)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string change_row(const judge::CaseChange& c) {
  const std::string status = c.old_status == c.new_status
                                 ? c.new_status
                                 : fmt::format("{} → {}", c.old_status.empty() ? "absent" : c.old_status,
                                               c.new_status.empty() ? "absent" : c.new_status);
  const std::string noisy = judge::noisy_words(c);
  return fmt::format("| {}{}{} | {} | {} | {} |\n", c.status_worse ? "BROKEN" : to_string(c.change),
                     noisy.empty() ? "" : ", ", noisy,
                     markdown_code(shortened_middle(c.name, markdown_names_width), true), markdown_text(status),
                     markdown_text(c.other_parts.empty() ? changes_of(c) : "other " + c.other_parts));
}

}  // namespace

void add_markdown_changes(std::string& text, const judge::BaselineComparison& comparison, size_t limit) {
  std::map<std::string_view, size_t> counts;
  std::vector<std::string> rows;
  for (const auto& c : comparison.cases) {
    ++counts[c.status_worse ? "BROKEN" : to_string(c.change)];
    if (c.status_worse || c.change != judge::Change::same) rows.push_back(change_row(c));
  }
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} {}", count, word));
  text += fmt::format("\n#### Since the baseline: {}\n\n", fmt::join(parts, ", "));
  std::vector<std::string> warnings;
  for (const auto& difference : comparison.machine_differences)
    warnings.push_back(fmt::format("- ⚠️ {}\n", markdown_text(difference)));
  for (const auto& note : comparison.notes) warnings.push_back(fmt::format("- {}\n", markdown_text(note)));
  if (const size_t count = comparison.timings_left_out; count > 0)
    warnings.push_back(fmt::format("- ⚠️ {} timings are not compared: taken on different machines\n", count));
  add_markdown_blocks(text, warnings, limit, "differences");
  if (rows.empty()) return;
  text += "\n| change | case | status | what |\n|---|---|---|---|\n";
  add_markdown_blocks(text, rows, limit, "changed cases");
}

}  // namespace torchstone::write
