#include "reports/record/row.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/detection.h"
#include "reports/record/metric.h"
#include "reports/record/noise.h"
#include "reports/record/run_verdict.h"
#include "reports/record/summary.h"

namespace torchstone {
namespace {

constexpr size_t name_width = 66, narrowest_name = 12, reason_width = 300, indent = 13;

Color color_of(const Verdict& verdict) {
  if (verdict.mark == '!' || verdict.mark == '*') return Color::red;
  if (verdict.mark == '~') return Color::yellow;
  return verdict.mark == 'x' ? Color::cyan : Color::green;
}

/// Why the timings of the row say less than they seem to, as far as `said`, which stands there already, does not have
/// it: at most two lines, none longer than the terminal.
std::vector<std::string> trust_lines(const Result& result, const std::string& said, size_t width) {
  const size_t room = width == 0 ? reason_width : std::max(width, indent + narrowest_name) - indent;
  std::vector<std::string> lines;
  const auto add = [&](const char* head, const std::string& words) {
    if (!words.empty()) lines.push_back(shortened(head + words, room));
  };
  const std::string noisy = terminal_line(noisy_reason(result));
  if (said.find(noisy) == std::string::npos) add("noisy: ", noisy);
  add("doubts: ", terminal_line(other_doubts(result)));
  return lines;
}

}  // namespace

std::string short_name(const std::string& name) { return name.substr(name.rfind('/') + 1); }

std::string filter_of(const std::string& name) {
  const size_t slash = name.rfind('/'), dot = name.find('.');
  return slash == std::string::npos || dot > slash ? name : name.substr(0, dot + 1) + "*" + name.substr(slash);
}

std::string fitting_filter(const std::string& name, size_t width) {
  std::string whole = terminal_line(filter_of(name));
  if (columns(whole) <= width) return whole;
  const std::string model = terminal_line(whole == name ? name : "*/" + short_name(name));
  std::string cut = shortened_middle(model, std::max(width, narrowest_name));
  const std::string ellipsis = "…";
  if (const size_t at = cut.find(ellipsis); cut != model && at != std::string::npos)
    cut.replace(at, ellipsis.size(), "*");
  return cut;
}

std::string sized_numbers(const Result& result) {
  const std::string numbers = numbers_line(result);
  return numbers.empty() ? "" : fmt::format("  {}{}", result.preset == "mini" ? "mini " : "", numbers);
}

Verdict verdict_of(const Result& result) {
  const StatusInfo& info = info_of(result.outcome.status);
  if (!result.finished) return {"ERROR", '!'};
  if (!result.as_expected()) {
    if (result.status_as_expected())
      return {result.outcome.notes.contains("different_model") ? "MODEL"
              : is_left_out(result)                            ? "GONE"
                                                               : "SLOWER",
              '!'};
    if (info.passing) return {"XPASS", '*'};
    return {info.junit == JUnitKind::failure ? "FAIL" : "ERROR", '!'};
  }
  if (info.junit == JUnitKind::skipped) return {"SKIP", 'x'};
  if (result.outcome.status == Status::undecided) return {"UNSURE", '~'};
  if (info.passing && is_noisy(result)) return {"NOISY", '~'};
  return {info.passing ? "PASS" : "XFAIL", ' '};
}

std::string compile_text(const Result& result) {
  const auto& metrics = result.outcome.metrics;
  const auto seconds = metrics.find("compile_s"), beside = metrics.find("compiled_beside");
  if (seconds == metrics.end()) return "";
  const std::string text = format_metric("compile_s", seconds->second);
  return beside == metrics.end() || beside->second == 0 ? text
                                                        : fmt::format("{} ({:.0f} beside)", text, beside->second);
}

std::string numbers_line(const Result& result) {
  const auto& metrics = result.outcome.metrics;
  const auto find = [&](const char* key) -> std::optional<double> {
    const auto found = metrics.find(key);
    return found == metrics.end() ? std::nullopt : std::optional(found->second);
  };
  std::string line;
  const auto add = [&](const std::string& part) { line += (line.empty() ? "" : "  ") + part; };
  if (const auto error = find("error_of_limit")) add(fmt::format("err {:.2g}×", *error));
  if (is_weak(result)) add("weak: limit " + limit_text(*find("detection_limit")));
  if (const auto speedup = find("speedup")) {
    std::string text = fmt::format("{:.2f}x", *speedup);
    if (!std::isfinite(*speedup)) text = "speed-up " + format_metric("speedup", *speedup);
    if (const std::string interval = speedup_interval(result, 2); !interval.empty()) text += " " + interval;
    add(text + (is_noisy(result) ? " (noisy)" : ""));
  }
  if (const auto largest = find("tolerance_max")) add(fmt::format("max {:.3g}", *largest));
  if (const auto mean = find("tolerance_mean")) add(fmt::format("mean {:.3g}", *mean));
  if (const std::string compile = compile_text(result); !compile.empty()) add("compile " + compile);
  return line;
}

std::string console_row(const Result& result, bool color, size_t width) {
  const Verdict verdict = verdict_of(result);
  const Outcome& outcome = result.outcome;
  std::string numbers = sized_numbers(result);
  if (!result.finished)
    numbers += "  started, never finished";
  else if (outcome.status != Status::pass || !result.as_expected())
    numbers += "  " + std::string(to_string(outcome.status));
  if (verdict.word == "NOISY") numbers += "  noisy: " + terminal_line(noisy_reason(result));
  const bool below = verdict.mark == '!' || verdict.mark == '*';
  if (below && result.expected != "pass") numbers += ", expected " + terminal_line(result.expected);
  const size_t taken = indent + columns(numbers);
  const size_t room = width == 0 ? std::string::npos : width > taken ? width - taken : 0;
  std::string name = fitting_filter(result.name, room);
  const size_t padded = std::min(name_width, room);
  if (columns(name) < padded) name.append(padded - columns(name), ' ');
  std::string row = colored(fmt::format("[{:^8}]", verdict.word), color_of(verdict), color);
  row += fmt::format(" {} {}{}", verdict.mark, name, numbers);
  while (row.ends_with(' ')) row.pop_back();
  const std::string whole_reason = terminal_line(first_line(reason_of(result)));
  const std::string reason = shortened(whole_reason, reason_width);
  const std::string margin = "\n" + std::string(indent, ' ');
  if (!reason.empty() && (below || outcome.status != Status::pass)) row += (below ? margin : ": ") + reason;
  for (const auto& line : trust_lines(result, row + whole_reason, width)) row += margin + line;
  if (!below) return row;
  if (const auto why = outcome.notes.find("diagnosis"); why != outcome.notes.end())
    row += margin + "diagnosis: " + terminal_line(first_line(why->second));
  if (!result.reproduce.empty()) row += margin + "again: " + terminal_line(first_line(result.reproduce));
  return row;
}

}  // namespace torchstone
