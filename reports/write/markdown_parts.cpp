#include "reports/write/markdown_parts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/judge/baseline_report.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"
#include "reports/write/markdown.h"

namespace torchstone::write {
namespace {

constexpr size_t longest_words = 1000;  // of the names of weak passes

}  // namespace

void add_markdown_blocks(std::string& text, const std::vector<std::string>& blocks, size_t limit,
                         std::string_view what) {
  size_t added = 0;
  while (added < blocks.size() && text.size() + blocks[added].size() <= limit) text += blocks[added++];
  if (added == blocks.size()) return;
  text += fmt::format("\n_… {} of {} {} are cut off here; all are in results.json_\n", blocks.size() - added,
                      blocks.size(), what);
}

std::string markdown_banner(const Report& report, const std::optional<judge::BaselineComparison>& comparison) {
  const auto& [run, results] = report;
  const int code = run.exit_code.value_or(ExitCode::success);
  const auto bad = static_cast<size_t>(std::ranges::count_if(results, is_unexpected));
  const size_t worse = comparison ? judge::count_worse(*comparison) : 0;
  const size_t others = comparison ? judge::count_other_models(*comparison) : 0;
  const std::string refusal = comparison ? judge::refusal_words(*comparison) : "";
  const bool whole = run.exit_reason.empty() || run.exit_reason == "finished" || run.exit_reason.starts_with("merged");
  std::string text =
      fmt::format("<!-- torchstone -->\n### {} Torchstone: {} of {} cases as expected\n\n",
                  bad > 0 || !whole || code != ExitCode::success || worse + others > 0 || !refusal.empty() ? "❌" : "✅",
                  results.size() - bad, results.size());
  std::vector<std::string> counts;
  for (const auto& [status, count] : count_by_status(results))
    counts.push_back(fmt::format("{} {}", count, markdown_text(to_string(status))));
  if (worse > 0) counts.push_back(fmt::format("{} worse than the baseline", worse));
  if (others > 0) counts.push_back(fmt::format("{} not the baseline's model", others));
  text += fmt::format("{}", fmt::join(counts, " · "));
  if (!refusal.empty()) text += fmt::format("\n<br>**{}**", capitalised(refusal));
  if (code != ExitCode::success)
    text += fmt::format("\n<br>exit code {}: {}", code, markdown_text(exit_words_of(report)));
  for (const auto& line : baseline_lines(run)) text += "\n<br>" + markdown_text(shortened(line, longest_words));
  if (run.baseline && !run.baseline->again.empty())
    text += "\n<br>again: " + markdown_code(shortened(run.baseline->again, longest_words));
  const Geomean geomean = geomean_of(results);
  std::vector<std::string> left_out;
  for (const auto& [reason, count] : geomean.left_out) left_out.push_back(fmt::format("{} {}", count, reason));
  if (geomean.n > 0)
    text += fmt::format("\n<br>speed-up: geometric mean {:.3f}x over {}{}", geomean.value, geomean.n,
                        geomean.noisy == 0 ? "" : fmt::format(", {} of them noisy", geomean.noisy));
  if (geomean.n == 0 && !left_out.empty()) text += "\n<br>speed-up: not measured";
  if (!left_out.empty()) text += markdown_text(fmt::format("; left out: {}", fmt::join(left_out, ", ")));
  const Detection detection = detection_of(results);
  for (const auto& words : {detection_words(detection), weak_words(detection)})
    if (!words.empty()) text += "\n<br>" + markdown_text(shortened(words, longest_words));
  text += run.duration_s > 0 ? fmt::format("\n<br>{:.0f} s", run.duration_s) : "\n<br>duration unknown";
  if (!run.started.empty()) text += ", started " + markdown_text(run.started);
  if (!run.exit_reason.empty()) text += ", " + markdown_text(shortened(run.exit_reason, markdown_names_width));
  for (const auto& [facts, key] : {std::pair{&run.machine, "cpu"}, {&run.build, "gpu"}, {&run.build, "torch"}}) {
    if (const auto found = facts->find(key); found != facts->end())
      text += fmt::format(", {} {}", key, markdown_text(shortened(found->second, markdown_names_width)));
  }
  return text + "\n";
}

void add_markdown_table(std::string& text, const tables::SuiteTable& table, size_t limit) {
  const auto line = [](const std::vector<std::string>& texts) {
    std::string cells = "|";
    for (const auto& cell : texts)
      cells += fmt::format(" {} |", markdown_text(shortened_middle(cell, markdown_names_width)));
    return cells + "\n";
  };
  std::string rules = "|";
  for (size_t i = 0; i < table.header.size(); ++i) rules += i < table.texts ? " --- |" : " --: |";
  std::vector<std::string> rows;
  for (const auto& row : table.rows) rows.push_back(line(row));
  const std::string head = fmt::format("\n#### {}\n\n{}\n\n{}{}\n", markdown_text(table.title),
                                       markdown_text(table.explanation), line(table.header), rules);
  if (text.size() + head.size() > limit) return add_markdown_blocks(text, {head}, limit, "tables");
  text += head;
  add_markdown_blocks(text, rows, limit, "rows");
}

namespace {

constexpr size_t longest_reason_shown = 500, detail_lines = 20, detail_width = 200;

std::string_view status_text(const Result& r) { return to_string(final_status(r)); }

std::string code_of_name(const Result& r, bool in_table = false) {
  return markdown_code(shortened_middle(r.name, markdown_names_width), in_table);
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

}  // namespace

bool is_unexpected(const Result& r) { return verdict_of(r).mark == '!' || verdict_of(r).mark == '*'; }

std::string markdown_failure(const Result& r) {
  std::string text = fmt::format("\n{} {} **{}**", symbol_of(r), code_of_name(r), markdown_text(status_text(r)));
  if (!r.finished) text += ", started and never finished";
  if (!r.status_as_expected() && r.expected != "pass") text += ", expected " + markdown_text(r.expected);
  if (const std::string numbers = numbers_line(r); !numbers.empty()) text += " · " + markdown_text(numbers);
  if (const std::string reason = reason_of(r); !reason.empty())
    text += "\n<br>" + markdown_text(shortened(reason, longest_reason_shown));
  text += "\n";
  if (!r.reproduce.empty()) text += "\n" + markdown_block(first_line(r.reproduce));
  if (!r.outcome.detail.empty()) {
    text +=
        "\n<details><summary>detail</summary>\n\n" + markdown_block(first_lines(r.outcome.detail)) + "\n</details>\n";
  }
  return text;
}

std::string markdown_case_row(const Result& r) {
  std::string speedup = metric_cell(r, "speedup");
  if (const std::string interval = speedup_interval(r, 3); !interval.empty()) speedup += " " + interval;
  if (is_noisy(r)) speedup += " noisy: " + noisy_reason(r);
  return fmt::format("| {} {} | {} | {} | {} | {} | {} | {} |\n", symbol_of(r),
                     markdown_code(shortened_middle(short_name(r.name), markdown_names_width), true),
                     markdown_text(status_text(r)) + (is_weak(r) ? ", weak" : ""),
                     markdown_text(metric_cell(r, "error_of_limit")), markdown_text(speedup),
                     metric_cell(r, "eager_ms"), metric_cell(r, "compiled_ms"), compile_text(r));
}

const std::string_view markdown_case_header =
    "| case | status | error of limit | speed-up | eager | compiled | compile |\n|---|---|--:|--:|--:|--:|--:|\n";

namespace {

constexpr size_t longest_sentence = 400, longest_cell = 200;

std::string cell(const std::string& text, size_t limit = longest_cell) { return markdown_text(shortened(text, limit)); }

std::string why_row(const Result& r, const Diagnosis& diagnosis) {
  return fmt::format("| {} | {} | {} | {} | {} |\n",
                     markdown_code(shortened_middle(short_name(r.name), markdown_names_width), true),
                     cell(diagnosis.outcome, 40), cell(diagnosis.sentence, longest_sentence),
                     diagnosis.guilty ? cell(diagnosis.guilty->name) : "",
                     diagnosis.reproducer ? cell(text_of(*diagnosis.reproducer)) : "");
}

}  // namespace

void add_markdown_why(std::string& text, const std::vector<Result>& results, size_t limit) {
  std::vector<std::string> rows;
  size_t undiagnosed = 0;
  std::string example;
  for (const auto& result : results) {
    if (const std::string why = why_undiagnosed(result); !why.empty() && undiagnosed++ == 0) example = why;
    if (const auto found = found_for(result); found && found->outcome != "healthy")
      rows.push_back(why_row(result, *found));
  }
  if (rows.empty() && undiagnosed == 0) return;
  text += fmt::format("\n#### Why: {} diagnosed\n", rows.size());
  if (undiagnosed > 0) text += fmt::format("\n{} left out, for example: {}\n", undiagnosed, cell(example, 400));
  if (rows.empty()) return;
  text += "\n| case | outcome | why | guilty | reproducer |\n|---|---|---|---|---|\n";
  add_markdown_blocks(text, rows, limit, "diagnoses");
}

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
