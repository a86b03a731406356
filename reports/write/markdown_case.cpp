#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/detection.h"
#include "reports/record/metric.h"
#include "reports/record/noise.h"
#include "reports/record/row.h"
#include "reports/record/run_verdict.h"
#include "reports/record/summary.h"
#include "reports/write/markdown.h"
#include "reports/write/markdown_parts.h"

namespace torchstone::write {
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

}  // namespace torchstone::write
