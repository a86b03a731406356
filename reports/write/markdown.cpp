// Functions that take `limit` append to `text` until it has that many bytes. A last line counts what did not fit.

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/judge/baseline_report.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/own_model.h"
#include "reports/record/summary.h"
#include "reports/record/tables/suite_tables.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

/// Fractions of the size limit: each section may fill the text up to its own.
constexpr double failures_part = 0.5, why_part = 0.6, changes_part = 0.8, undecided_part = 0.85, tables_part = 0.9;
/// Bytes for closing tags and for the lines that count what was cut.
constexpr size_t reserve = 1000;

constexpr size_t longest_name = 200, longest_line = 1000, longest_cause = 500, longest_sentence = 400;
constexpr size_t detail_lines = 20, detail_width = 200;

constexpr std::string_view case_header =
    "| case | status | error of limit | speed-up | eager | compiled | compile |\n|---|---|--:|--:|--:|--:|--:|\n";

size_t longest_run_of_backticks(std::string_view text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

/// Returns text for an HTML element, with Markdown's special characters escaped too.
std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : printable_line(text)) {
    out += std::string_view("\\`*_[]|~$:.!<>&\"'@#").find(c) == std::string_view::npos
               ? std::string(1, c)
               : fmt::format("&#{};", static_cast<int>(c));
    if (c == '@' || c == '#') out += "&#8203;";
  }
  return out;
}

std::string cut_text(std::string_view text, size_t limit = longest_name) {
  return markdown_text(shortened(text, limit));
}

void add_blocks(std::string& text, const std::vector<std::string>& blocks, size_t limit, std::string_view what) {
  size_t added = 0;
  while (added < blocks.size() && text.size() + blocks[added].size() <= limit) text += blocks[added++];
  if (added == blocks.size()) return;
  text += fmt::format("\n_… {} of {} {} are cut off here; all are in results.json_\n", blocks.size() - added,
                      blocks.size(), what);
}

bool is_unexpected(const Result& r) { return verdict_of(r).mark == '!' || verdict_of(r).mark == '*'; }

std::string speed_lines(const std::vector<Result>& results) {
  std::string text;
  for (const auto& machine : machines_of_timings(results)) {
    const Geomean geomean = geomean_of(results, machine);
    const std::string excluded = excluded_text(geomean), on = cut_text(on_machine(machine));
    if (geomean.n > 0)
      text += fmt::format("\n<br>speed-up{}: geometric mean {:.3f}x over {}{}", on, geomean.value, geomean.n,
                          geomean.noisy == 0 ? "" : fmt::format(", {} of them noisy", geomean.noisy));
    if (geomean.n == 0 && !excluded.empty()) text += fmt::format("\n<br>speed-up{}: not measured", on);
    if (!excluded.empty()) text += markdown_text("; left out: " + excluded);
  }
  const Detection detection = detection_of(results);
  for (const auto& line : {detection_words(detection), weak_words(detection)})
    if (!line.empty()) text += "\n<br>" + cut_text(line, longest_line);
  return text;
}

/// Returns a sentence for each backend and mode.
std::string own_model_list(const std::vector<Result>& results) {
  std::string text;
  for (const auto& [sentence, mark] : own_model_sentences(results)) text += "\n- " + cut_text(sentence, longest_line);
  return text + "\n";
}

/// Returns the text of the heading: the names of the user's models, or how many cases are as expected.
std::string subject_of(const std::vector<Result>& results, size_t bad) {
  if (is_own_without_expectations(results)) return cut_text(model_names(results));
  return fmt::format("{} of {} case{} as expected", results.size() - bad, results.size(),
                     results.size() == 1 ? "" : "s");
}

/// Returns counts, geometric mean, duration and machine. For the user's own model, sentences replace the mean.
std::string banner(const Report& report, const std::optional<judge::BaselineComparison>& comparison) {
  const auto& [run, results] = report;
  const int code = run.exit_code.value_or(ExitCode::success);
  const auto bad = static_cast<size_t>(std::ranges::count_if(results, is_unexpected));
  const size_t worse = comparison ? judge::count_worse(*comparison) : 0;
  const size_t others = comparison ? judge::count_other_models(*comparison) : 0;
  const std::string refusal = comparison ? judge::refusal_words(*comparison) : "";
  std::string text = fmt::format(
      "<!-- torchstone -->\n### {} Torchstone: {}\n\n",
      bad > 0 || !is_complete(run) || code != ExitCode::success || worse + others > 0 || !refusal.empty() ? "❌" : "✅",
      subject_of(results, bad));
  std::vector<std::string> counts;
  for (const auto& [status, count] : count_by_status(results))
    counts.push_back(fmt::format("{} {}", count, markdown_text(to_string(status))));
  if (worse > 0) counts.push_back(fmt::format("{} worse than the baseline", worse));
  if (others > 0) counts.push_back(fmt::format("{} not the baseline's model", others));
  text += fmt::format("{}", fmt::join(counts, " · "));
  if (!refusal.empty()) text += fmt::format("\n<br>**{}**", capitalised(refusal));
  if (code != ExitCode::success)
    text += fmt::format("\n<br>exit code {}: {}", code, markdown_text(exit_words_of(report)));
  for (const auto& line : baseline_lines(run)) text += "\n<br>" + cut_text(line, longest_line);
  if (run.baseline && !run.baseline->again.empty())
    text += "\n<br>again: " + markdown_code(shortened(run.baseline->again, longest_line));
  text += are_of_own_model(results) ? "\n" + own_model_list(results) : speed_lines(results);
  text += run.duration_s > 0 ? fmt::format("\n<br>{:.0f} s", run.duration_s) : "\n<br>duration unknown";
  if (!run.started.empty()) text += ", started " + markdown_text(run.started);
  if (!run.exit_reason.empty()) text += ", " + cut_text(run.exit_reason);
  for (const auto& [facts, key] : {std::pair{&run.machine, "cpu"}, {&run.build, "gpu"}, {&run.build, "torch"}})
    if (const auto found = facts->find(key); found != facts->end())
      text += fmt::format(", {} {}", key, cut_text(found->second));
  return text + "\n";
}

std::string_view status_text(const Result& r) { return to_string(final_status(r)); }

std::string metric_cell(const Result& r, const char* key) {
  const auto value = metric_of(r, key);
  return value ? format_metric(key, *value) : "";
}

/// Returns the symbol of a verdict. Symbols differ in shape, not only in colour.
std::string_view symbol_of(const Result& r) {
  const char mark = verdict_of(r).mark;
  return mark == '!' ? "❌" : mark == '*' ? "❗" : mark == '~' ? "❔" : mark == 'x' ? "⏭️" : "✅";
}

std::string first_lines(const std::string& text) {
  std::istringstream lines(text);
  std::string out, line;
  for (size_t i = 0; i < detail_lines && std::getline(lines, line); ++i)
    out += shortened(printable(first_line(line)), detail_width) + "\n";
  return out + (lines.peek() == EOF ? "" : "…\n");
}

/// Returns status, numbers, reason, reproduction and detail of an unexpected case.
std::string failure_block(const Result& r) {
  std::string text = fmt::format("\n{} {} **{}**", symbol_of(r), markdown_code(shortened_middle(r.name, longest_name)),
                                 markdown_text(status_text(r)));
  if (!r.finished) text += ", started and never finished";
  if (!r.status_as_expected() && r.expected != "pass") text += ", expected " + markdown_text(expected_words(r));
  if (const std::string numbers = numbers_line(r); !numbers.empty()) text += " · " + markdown_text(numbers);
  if (const std::string reason = reason_of(r); !reason.empty()) text += "\n<br>" + cut_text(reason, longest_cause);
  text += "\n";
  if (!r.reproduce.empty()) text += "\n" + markdown_block(first_line(r.reproduce));
  if (!r.outcome.detail.empty())
    text +=
        "\n<details><summary>detail</summary>\n\n" + markdown_block(first_lines(r.outcome.detail)) + "\n</details>\n";
  return text;
}

/// Returns a name as a code span for a cell of a table.
std::string name_cell(std::string_view name) { return markdown_code(shortened_middle(name, longest_name), true); }

std::string case_row(const Result& r) {
  std::string speedup = speedup_text(r, 3);
  if (is_noisy(r)) speedup += " noisy: " + noisy_reason(r);
  return fmt::format("| {} {} | {} | {} | {} | {} | {} | {} |\n", symbol_of(r), name_cell(short_name(r.name)),
                     markdown_text(status_text(r)) + (is_weak(r) ? ", weak" : ""),
                     markdown_text(metric_cell(r, "error_of_limit")), markdown_text(speedup),
                     metric_cell(r, "eager_ms"), metric_cell(r, "compiled_ms"), compile_text(r));
}

void add_table(std::string& text, const tables::SuiteTable& table, size_t limit) {
  const auto line = [](const std::vector<std::string>& texts) {
    std::string cells = "|";
    for (const auto& cell : texts) cells += fmt::format(" {} |", markdown_text(shortened_middle(cell, longest_name)));
    return cells + "\n";
  };
  std::string rules = "|";
  for (size_t i = 0; i < table.header.size(); ++i) rules += i < table.texts ? " --- |" : " --: |";
  std::vector<std::string> rows;
  for (const auto& row : table.rows) rows.push_back(line(row));
  const std::string head = fmt::format("\n#### {}\n\n{}\n\n{}{}\n", markdown_text(table.title),
                                       markdown_text(table.explanation), line(table.header), rules);
  if (text.size() + head.size() > limit) return add_blocks(text, {head}, limit, "tables");
  text += head;
  add_blocks(text, rows, limit, "rows");
}

std::string why_row(const Result& r, const Diagnosis& diagnosis) {
  return fmt::format("| {} | {} | {} | {} | {} |\n", name_cell(short_name(r.name)), to_string(diagnosis.outcome),
                     cut_text(diagnosis.sentence, longest_sentence),
                     diagnosis.guilty ? cut_text(diagnosis.guilty->name) : "",
                     diagnosis.reproducer ? cut_text(text_of(*diagnosis.reproducer)) : "");
}

/// Adds a table of why compiled programs are wrong, with one row per diagnosis.
void add_why(std::string& text, const std::vector<Result>& results, size_t limit) {
  std::vector<std::string> rows;
  size_t undiagnosed = 0;
  std::string example;
  for (const auto& result : results) {
    const Outcome& outcome = result.outcome;
    if (!outcome.undiagnosed.empty() && undiagnosed++ == 0) example = outcome.undiagnosed;
    if (outcome.diagnosis && outcome.diagnosis->outcome != DiagnosisOutcome::healthy)
      rows.push_back(why_row(result, *outcome.diagnosis));
  }
  if (rows.empty() && undiagnosed == 0) return;
  text += fmt::format("\n#### Why: {} diagnosed\n", rows.size());
  if (undiagnosed > 0)
    text += fmt::format("\n{} left out, for example: {}\n", undiagnosed, cut_text(example, longest_sentence));
  if (rows.empty()) return;
  text += "\n| case | outcome | why | guilty | reproducer |\n|---|---|---|---|---|\n";
  add_blocks(text, rows, limit, "diagnoses");
}

/// Returns the metrics that changed: "compiled, median 12 ms → 15 ms (SLOWER)".
std::string metric_changes(const judge::CaseChange& c) {
  std::vector<std::string> parts;
  for (const auto& m : c.metrics)
    if (m.change != judge::Change::same)
      parts.push_back(fmt::format("{} ({})", judge::values_words(m), judge::change_words(m)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Returns metric_changes() and, for a different model, which parts differ.
std::string what_changed(const judge::CaseChange& c) {
  const std::string metrics = metric_changes(c);
  if (!c.other_parts.any()) return metrics;
  return metrics + (metrics.empty() ? "" : ", ") + "other " + c.other_parts.words();
}

std::string change_row(const judge::CaseChange& c) {
  const auto status_or_absent = [](const std::string& status) { return status.empty() ? "absent" : status; };
  const std::string status = c.old_status == c.new_status ? c.new_status
                                                          : fmt::format("{} → {}", status_or_absent(c.old_status),
                                                                        status_or_absent(c.new_status));
  const std::string noisy = judge::noisy_words(c);
  return fmt::format("| {}{}{} | {} | {} | {} |\n", to_string(c.change), noisy.empty() ? "" : ", ", noisy,
                     name_cell(c.name), markdown_text(status), markdown_text(what_changed(c)));
}

void add_changes(std::string& text, const judge::BaselineComparison& comparison, size_t limit) {
  std::map<std::string_view, size_t> counts;
  std::vector<std::string> rows;
  for (const auto& c : comparison.cases) {
    ++counts[to_string(c.change)];
    if (c.change != judge::Change::same) rows.push_back(change_row(c));
  }
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(fmt::format("{} {}", count, word));
  text += fmt::format("\n#### Since the baseline: {}\n\n", fmt::join(parts, ", "));
  std::vector<std::string> warnings;
  if (const std::string torch = judge::torch_words(comparison); !torch.empty())
    warnings.push_back(fmt::format("- ⚠️ {}\n", markdown_text(torch)));
  for (const auto& difference : comparison.machine_differences)
    warnings.push_back(fmt::format("- ⚠️ {}\n", markdown_text(difference)));
  for (const auto& note : comparison.notes) warnings.push_back(fmt::format("- {}\n", markdown_text(note)));
  if (const size_t count = comparison.timings_excluded; count > 0)
    warnings.push_back(
        fmt::format("- ⚠️ {} timings are not compared: {}\n", count, judge::exclusion_words(comparison)));
  add_blocks(text, warnings, limit, "differences");
  if (rows.empty()) return;
  text += "\n| change | case | status | what |\n|---|---|---|---|\n";
  add_blocks(text, rows, limit, "changed cases");
}

bool is_open(const Result& r) { return verdict_of(r).mark == '~'; }

/// "1 undecided, 2 noisy"
std::string open_words(const std::vector<Result>& results) {
  const auto open = std::ranges::count_if(results, is_open);
  const auto noisy = std::ranges::count_if(results, [](const Result& r) { return verdict_of(r).word == "NOISY"; });
  if (noisy == 0) return fmt::format("{} undecided", open);
  return open == noisy ? fmt::format("{} noisy", noisy) : fmt::format("{} undecided, {} noisy", open - noisy, noisy);
}

template <typename Predicate, typename Write>
std::vector<std::string> blocks_of(const std::vector<Result>& results, Predicate wanted, Write write) {
  std::vector<std::string> blocks;
  for (const auto& result : results)
    if (wanted(result)) blocks.push_back(write(result));
  return blocks;
}

/// Returns the rows of the cases of each suite, in the order in which the suites first appear.
std::vector<std::pair<std::string, std::vector<std::string>>> rows_by_suite(const std::vector<Result>& results) {
  std::vector<std::pair<std::string, std::vector<std::string>>> suites;
  std::map<std::string, size_t> places;
  for (const auto& result : results) {
    const auto [place, is_new] = places.emplace(result.suite, suites.size());
    if (is_new) suites.push_back({result.suite, {}});
    suites[place->second].second.push_back(case_row(result));
  }
  return suites;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  // GitHub finds mentions and issue numbers in the rendered text, so escaping does not prevent them. A zero-width space
  // after `@` and `#` does. Text without a colon has no address with a scheme and no emoji.
  static const std::map<char, std::string_view> replaced = {{'@', "@&#8203;"}, {'#', "#&#8203;"}, {'<', "&lt;"},
                                                            {'>', "&gt;"},     {'&', "&amp;"},    {':', "&#58;"}};
  std::string out;
  for (const char c : printable_line(text)) {
    if (const auto found = replaced.find(c); found != replaced.end())
      out += found->second;
    else if (c == '.' && out.ends_with("www"))
      out += "&#46;";
    else if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string markdown_code(std::string_view text, bool in_table) {
  std::string inner = printable_line(text);
  if (in_table) inner = substituted(inner, {{'|', "\\|"}});
  const std::string fence(longest_run_of_backticks(inner) + 1, '`');
  const bool touches = inner.empty() || inner.starts_with('`') || inner.ends_with('`');
  return touches ? fence + " " + inner + " " + fence : fence + inner + fence;
}

std::string markdown_block(std::string_view text) {
  const std::string inner = printable(text);
  const std::string fence(std::max<size_t>(3, longest_run_of_backticks(inner) + 1), '`');
  return fence + "\n" + inner + (inner.ends_with('\n') ? "" : "\n") + fence + "\n";
}

std::string write_markdown(const Report& report, const MarkdownOptions& options) {
  const auto room = static_cast<double>(options.limit > reserve ? options.limit - reserve : 0);
  const auto up_to = [&](double part) { return static_cast<size_t>(room * part); };
  std::string text = banner(report, options.comparison);
  if (const auto blocks = blocks_of(report.results, is_unexpected, failure_block); !blocks.empty()) {
    const bool passes = is_own_without_expectations(report.results);
    text += fmt::format("\n#### {} {}\n", blocks.size(), passes ? "did not pass" : "not as expected");
    add_blocks(text, blocks, up_to(failures_part), "failures");
  }
  add_why(text, report.results, up_to(why_part));
  if (options.comparison) add_changes(text, *options.comparison, up_to(changes_part));
  if (const auto rows = blocks_of(report.results, is_open, case_row); !rows.empty()) {
    text += fmt::format("\n#### {}\n\n{}", open_words(report.results), case_header);
    add_blocks(text, rows, up_to(undecided_part), "undecided and noisy cases");
  }
  for (const auto& table : tables::suite_tables(report.results)) {
    if (text.size() + reserve > up_to(tables_part)) {
      text += "\n_… further tables are cut off here; all are in results.json_\n";
      break;
    }
    add_table(text, table, up_to(tables_part));
  }
  for (const auto& [suite, rows] : rows_by_suite(report.results)) {
    const std::string head =
        fmt::format("\n<details><summary>{}: {} cases</summary>\n\n{}",
                    html_text(suite.empty() ? "no suite" : shortened(suite, longest_name)), rows.size(), case_header);
    if (text.size() + head.size() > up_to(1)) {
      text += "\n_… the tables of further suites are cut off here; all are in results.json_\n";
      break;
    }
    text += head;
    add_blocks(text, rows, up_to(1), "cases");
    text += "\n</details>\n";
  }
  return text;
}

}  // namespace torchstone::write
