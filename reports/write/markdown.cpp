#include "reports/write/markdown.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"
#include "reports/base/xml.h"
#include "reports/record/metric.h"
#include "reports/record/row.h"
#include "reports/record/summary.h"
#include "reports/tables/suite_tables.h"

namespace torchstone::write {
namespace {

constexpr size_t longest_reason_shown = 500, detail_lines = 20, detail_width = 200, names_width = 200;

/// Parts of the limit up to which failures, changes, undecided cases and tables of suites may fill it, and the room
/// that closing tags and the lines that count what was cut may take.
constexpr double failures_part = 0.6, changes_part = 0.8, undecided_part = 0.85, tables_part = 0.9;
constexpr size_t reserve = 1000;

/// Adds what fits below `limit` bytes, and how many did not.
void add_within(std::string& text, const std::vector<std::string>& blocks, size_t limit, std::string_view what) {
  size_t added = 0;
  while (added < blocks.size() && text.size() + blocks[added].size() <= limit) text += blocks[added++];
  if (added == blocks.size()) return;
  text += fmt::format("\n_… {} of {} {} are cut off here; all are in results.json_\n", blocks.size() - added,
                      blocks.size(), what);
}

bool is_bad(const Result& r) { return verdict_of(r).mark == '!' || verdict_of(r).mark == '*'; }
bool is_undecided(const Result& r) { return verdict_of(r).mark == '~'; }

std::string_view status_text(const Result& r) { return to_string(final_status(r)); }

std::string code_of_name(const Result& r, bool in_table = false) {
  return markdown_code(shortened_middle(r.name, names_width), in_table);
}

std::string metric_cell(const Result& r, const char* key) {
  const auto found = r.outcome.metrics.find(key);
  return found == r.outcome.metrics.end() ? "" : format_metric(key, found->second);
}

/// Told apart by shape, not by colour alone.
std::string_view symbol_of(const Result& r) {
  switch (verdict_of(r).mark) {
    case '!':
      return "❌";
    case '*':
      return "❗";
    case '~':
      return "❔";
    case 'x':
      return "⏭️";
    default:
      return "✅";
  }
}

std::string first_lines(const std::string& text) {
  std::string out;
  size_t begin = 0;
  for (size_t line = 0; line < detail_lines && begin < text.size(); ++line) {
    out += shortened(printable(first_line(std::string_view(text).substr(begin))), detail_width) + "\n";
    const size_t end = text.find('\n', begin);
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return out + (begin < text.size() ? "…\n" : "");
}

std::string failure(const Result& r) {
  std::string text = fmt::format("\n{} {} **{}**", symbol_of(r), code_of_name(r), markdown_text(status_text(r)));
  if (!r.finished) text += ", started and never finished";
  if (r.expected != "pass") text += ", expected " + markdown_text(r.expected);
  if (const std::string numbers = numbers_line(r); !numbers.empty()) text += " · " + markdown_text(numbers);
  if (!r.outcome.reason.empty()) text += "\n<br>" + markdown_text(shortened(r.outcome.reason, longest_reason_shown));
  text += "\n";
  if (!r.reproduce.empty()) text += "\n" + markdown_block(first_line(r.reproduce));
  if (!r.outcome.detail.empty()) {
    text +=
        "\n<details><summary>detail</summary>\n\n" + markdown_block(first_lines(r.outcome.detail)) + "\n</details>\n";
  }
  return text;
}

std::string case_row(const Result& r) {
  std::string speedup = metric_cell(r, "speedup");
  if (const auto low = metric_cell(r, "speedup_low"), high = metric_cell(r, "speedup_high"); !low.empty())
    speedup += fmt::format(" [{} {}]", low, high);
  return fmt::format("| {} {} | {} | {} | {} | {} | {} | {} |\n", symbol_of(r),
                     markdown_code(shortened_middle(short_name(r.name), names_width), true),
                     markdown_text(status_text(r)), markdown_text(metric_cell(r, "error_of_limit")),
                     markdown_text(speedup), metric_cell(r, "eager_ms"), metric_cell(r, "compiled_ms"),
                     metric_cell(r, "compile_s"));
}

constexpr std::string_view case_header =
    "| case | status | error of limit | speed-up | eager | compiled | compile |\n|---|---|--:|--:|--:|--:|--:|\n";

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
  return fmt::format("| {} | {} | {} | {} |\n", c.status_worse ? "BROKEN" : to_string(c.change),
                     markdown_code(shortened_middle(c.name, names_width), true), markdown_text(status),
                     markdown_text(changes_of(c)));
}

std::string banner(const Report& report) {
  const auto& [run, results] = report;
  const auto bad = static_cast<size_t>(std::ranges::count_if(results, is_bad));
  const bool whole = run.exit_reason.empty() || run.exit_reason == "finished" || run.exit_reason.starts_with("merged");
  std::string text = fmt::format("<!-- torchstone -->\n### {} Torchstone: {} of {} cases as expected\n\n",
                                 bad > 0 || !whole ? "❌" : "✅", results.size() - bad, results.size());
  std::vector<std::string> counts;
  for (const auto& [status, count] : count_by_status(results))
    counts.push_back(fmt::format("{} {}", count, markdown_text(to_string(status))));
  text += fmt::format("{}", fmt::join(counts, " · "));
  const Geomean geomean = geomean_of(results);
  std::vector<std::string> left_out;
  for (const auto& [reason, count] : geomean.left_out) left_out.push_back(fmt::format("{} {}", count, reason));
  if (geomean.n > 0) text += fmt::format("\n<br>speed-up: geometric mean {:.3f}x over {}", geomean.value, geomean.n);
  if (geomean.n == 0 && !left_out.empty()) text += "\n<br>speed-up: not measured";
  if (!left_out.empty()) text += markdown_text(fmt::format("; left out: {}", fmt::join(left_out, ", ")));
  text += fmt::format("\n<br>{:.0f} s", run.duration_s);
  if (!run.started.empty()) text += ", started " + markdown_text(run.started);
  if (!run.exit_reason.empty()) text += ", " + markdown_text(shortened(run.exit_reason, names_width));
  for (const auto& [facts, key] : {std::pair{&run.machine, "cpu"}, {&run.build, "gpu"}, {&run.build, "torch"}}) {
    if (const auto found = facts->find(key); found != facts->end())
      text += fmt::format(", {} {}", key, markdown_text(shortened(found->second, names_width)));
  }
  return text + "\n";
}

void add_table(std::string& text, const tables::SuiteTable& table, size_t limit) {
  const auto line = [](const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
  };
  std::vector<std::string> rules, rows;
  for (size_t i = 0; i < table.header.size(); ++i) rules.emplace_back(i < table.texts ? "---" : "--:");
  for (const auto& row : table.rows) {
    std::vector<std::string> cells;
    for (const auto& cell : row) cells.push_back(markdown_text(shortened_middle(cell, names_width)));
    rows.push_back(line(cells));
  }
  const std::string head = fmt::format("\n#### {}\n\n{}\n\n{}{}", markdown_text(table.title), table.explanation,
                                       line(table.header), line(rules));
  if (text.size() + head.size() > limit) return add_within(text, {head}, limit, "tables");
  text += head;
  add_within(text, rows, limit, "rows");
}

template <typename Predicate, typename Write>
std::vector<std::string> blocks_of(const std::vector<Result>& results, Predicate wanted, Write write) {
  std::vector<std::string> blocks;
  for (const auto& result : results)
    if (wanted(result)) blocks.push_back(write(result));
  return blocks;
}

void add_changes(std::string& text, const judge::BaselineComparison& comparison, size_t limit) {
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
  if (const size_t count = comparison.timings_left_out; count > 0)
    warnings.push_back(fmt::format("- ⚠️ {} timings are not compared: taken on different machines\n", count));
  add_within(text, warnings, limit, "differences");
  if (rows.empty()) return;
  text += "\n| change | case | status | what |\n|---|---|---|---|\n";
  add_within(text, rows, limit, "changed cases");
}

}  // namespace

std::string write_markdown(const Report& report, const MarkdownOptions& options) {
  const auto room = static_cast<double>(options.limit > reserve ? options.limit - reserve : 0);
  const auto up_to = [&](double part) { return static_cast<size_t>(room * part); };
  std::string text = banner(report);
  if (const auto blocks = blocks_of(report.results, is_bad, failure); !blocks.empty()) {
    text += fmt::format("\n#### {} not as expected\n", blocks.size());
    add_within(text, blocks, up_to(failures_part), "failures");
  }
  if (options.comparison) add_changes(text, *options.comparison, up_to(changes_part));
  if (const auto rows = blocks_of(report.results, is_undecided, case_row); !rows.empty()) {
    text += fmt::format("\n#### {} undecided\n\n{}", rows.size(), case_header);
    add_within(text, rows, up_to(undecided_part), "undecided cases");
  }
  for (const auto& table : tables::suite_tables(report.results)) add_table(text, table, up_to(tables_part));
  std::vector<std::string> suites;
  for (const auto& result : report.results)
    if (std::ranges::find(suites, result.suite) == suites.end()) suites.push_back(result.suite);
  for (const auto& suite : suites) {
    const auto rows = blocks_of(
        report.results, [&](const Result& r) { return r.suite == suite; }, case_row);
    const std::string head =
        fmt::format("\n<details><summary>{}: {} cases</summary>\n\n{}",
                    xml_text(suite.empty() ? "no suite" : shortened(suite, names_width)), rows.size(), case_header);
    if (text.size() + head.size() > up_to(1)) {
      text += "\n_… the tables of further suites are cut off here; all are in results.json_\n";
      break;
    }
    text += head;
    add_within(text, rows, up_to(1), "cases");
    text += "\n</details>\n";
  }
  return text;
}

}  // namespace torchstone::write
