#include "reports/record/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/compile_cost.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/result_json.h"
#include "reports/record/summary.h"

namespace torchstone {

const std::vector<StatusInfo>& status_table() {
  using enum StatusKind;
  static const std::vector<StatusInfo> table = {
      {Status::pass, "pass", true, passed, ExitCode::success},
      {Status::pass_due_to_skip, "pass_due_to_skip", true, skipped, ExitCode::success},
      {Status::fail_accuracy, "fail_accuracy", false, failed, ExitCode::gate_failed},
      {Status::not_bitwise_equivalent, "not_bitwise_equivalent", false, failed, ExitCode::gate_failed},
      {Status::eager_two_runs_differ, "eager_two_runs_differ", false, failed, ExitCode::gate_failed},
      {Status::eager_1st_run_fail, "eager_1st_run_fail", false, error, ExitCode::gate_failed},
      {Status::eager_1st_run_OOM, "eager_1st_run_OOM", false, error, ExitCode::infrastructure},
      {Status::eager_2nd_run_fail, "eager_2nd_run_fail", false, error, ExitCode::gate_failed},
      {Status::eager_2nd_run_OOM, "eager_2nd_run_OOM", false, error, ExitCode::infrastructure},
      {Status::fail_to_run, "fail_to_run", false, error, ExitCode::gate_failed},
      {Status::OOM, "OOM", false, error, ExitCode::infrastructure},
      {Status::model_fail_to_load, "model_fail_to_load", false, error, ExitCode::gate_failed},
      {Status::eager_fail_to_run, "eager_fail_to_run", false, error, ExitCode::gate_failed},
      {Status::timeout, "timeout", false, error, ExitCode::infrastructure},
      {Status::crash, "crash", false, error, ExitCode::infrastructure},
      {Status::uninformative, "uninformative", false, failed, ExitCode::gate_failed},
      {Status::not_compiled, "not_compiled", false, failed, ExitCode::gate_failed},
      {Status::unsupported, "unsupported", true, skipped, ExitCode::success},
      {Status::fail_to_capture, "fail_to_capture", false, error, ExitCode::gate_failed},
      {Status::fail_to_compile, "fail_to_compile", false, error, ExitCode::gate_failed},
      {Status::fail_speedup, "fail_speedup", false, failed, ExitCode::gate_failed},
      {Status::fail_graph_breaks, "fail_graph_breaks", false, failed, ExitCode::gate_failed},
      {Status::fail_recompiles, "fail_recompiles", false, failed, ExitCode::gate_failed},
      {Status::fail_compile_time, "fail_compile_time", false, failed, ExitCode::gate_failed},
      {Status::fail_memory, "fail_memory", false, failed, ExitCode::gate_failed},
      {Status::undecided, "undecided", true, passed, ExitCode::undecided},
      {Status::interrupted, "interrupted", false, error, ExitCode::interrupted},
  };
  return table;
}

const StatusInfo& info_of(Status status) {
  const auto& table = status_table();
  const auto found = std::ranges::find(table, status, &StatusInfo::status);
  if (found == table.end()) throw std::logic_error("a status without a row in the status table");
  return *found;
}

std::string_view to_string(Status status) { return info_of(status).name; }

std::optional<Status> parse_status(std::string_view name) {
  const auto& table = status_table();
  const auto found = std::ranges::find(table, name, &StatusInfo::name);
  if (found == table.end()) return std::nullopt;
  return found->status;
}

int exit_code_of(const Report& report) {
  return report.run.exit_code ? *report.run.exit_code : exit_code_of(report.results, /*strict_undecided=*/false);
}

bool is_complete(const RunInfo& run) {
  const std::string& reason = run.exit_reason;
  return reason.empty() || reason == "finished" || reason.starts_with("merged from ") ||
         reason.starts_with("releases of torch: ");
}

std::string exit_words(int code) {
  static const std::map<int, std::string> words = {
      {ExitCode::success, "nothing unexpected"},
      {ExitCode::gate_failed, "a gate failed"},
      {ExitCode::usage_error, "something could not be used as it was given"},
      {ExitCode::nothing_judged, "nothing was judged"},
      {ExitCode::infrastructure, "infrastructure: compiler missing, crash, timeout or out of memory"},
      {ExitCode::undecided, "undecided"}};
  return value_in(words, code, "interrupted; what was finished is here");
}

std::string exit_words_of(const Report& report) {
  return report.run.exit_words.empty() ? exit_words(exit_code_of(report)) : report.run.exit_words;
}

std::string reason_of(const Result& result) {
  std::string text;
  const auto add = [&](const std::string& line) { text += (text.empty() || line.empty() ? "" : "\n") + line; };
  const bool gone = result.baseline.change == BaselineChange::gone && !result.outcome.reason.empty();
  if (!result.status_as_expected()) add(result.outcome.reason);
  add(gone ? result.baseline.reason + ": " + result.outcome.reason : result.baseline.reason);
  if (result.status_as_expected() && !gone) add(result.outcome.reason);
  if (const std::string noise = noisy_reason(result); !noise.empty()) add("noisy: " + noise);
  if (const std::string weak = weak_reason(result); !weak.empty()) add("weak: " + weak);
  return text;
}

std::map<std::string, std::string> reported_notes(const Result& result) {
  auto notes = recorded_notes(result.outcome);
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) notes.emplace(key, text);
  };
  add("infrastructure", result.outcome.infrastructure_fault);
  add("upstream_name", result.upstream_name);
  add(baseline_type(result), result.baseline.reason);
  add("dynamic_timed", fmt::format("{}", fmt::join(result.outcome.timed_sizes, "; ")));
  return notes;
}

const char* baseline_type(const Result& result) {
  if (result.baseline.change == BaselineChange::different_model) return "different_model";
  return result.baseline.change == BaselineChange::changed ? "changed_since_baseline" : "worse_than_baseline";
}

std::string baseline_verdict_words(const Result& result) {
  static constexpr std::array words = {"", "worse than the baseline", "gone since the baseline",
                                       "another model than the baseline's",
                                       "changed since the baseline"};  // in the enum's order
  return words.at(static_cast<size_t>(result.baseline.change));
}

std::vector<std::string> baseline_lines(const RunInfo& run) {
  if (!run.baseline) return {};
  std::vector<std::string> lines = {fmt::format("baseline {}: {}", run.baseline->path, run.baseline->summary)};
  lines.insert(lines.end(), run.baseline->remarks.begin(), run.baseline->remarks.end());
  return lines;
}

std::string comparison_again(const RunInfo& run, const Result& result) {
  return run.baseline && !result.as_expected() && result.status_as_expected() ? run.baseline->again : "";
}

bool is_beyond_a_limit(Status status) {
  static constexpr std::array limits{Status::fail_speedup, Status::fail_graph_breaks, Status::fail_recompiles,
                                     Status::fail_compile_time, Status::fail_memory};
  return std::ranges::find(limits, status) != limits.end();
}

std::string expected_words(const Result& result) {
  return result.max_error ? fmt::format("{} up to {}×", result.expected, *result.max_error) : result.expected;
}

namespace {

std::string_view baseline_word(BaselineChange change) {
  if (change == BaselineChange::different_model) return "DIFFERENT MODEL";
  if (change == BaselineChange::changed) return "CHANGED";
  return change == BaselineChange::gone ? "GONE" : "SLOWER";
}

constexpr size_t name_width = 66, narrowest_name = 12, reason_width = 300, indent = 13;

Color color_of(const Verdict& verdict) {
  if (verdict.mark == '!' || verdict.mark == '*') return Color::red;
  if (verdict.mark == '~') return Color::yellow;
  return verdict.mark == 'x' ? Color::cyan : Color::green;
}

/// Returns why the timings are less certain than they seem, in at most two lines that fit the terminal. Leaves out
/// reasons that `said`, the row so far, already has.
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
    if (result.status_as_expected()) return {baseline_word(result.baseline.change), '!'};
    if (info.passing) return {"XPASS", '*'};
    return {info.kind == StatusKind::failed ? "FAIL" : "ERROR", '!'};
  }
  if (info.kind == StatusKind::skipped) return {"SKIP", 'x'};
  if (result.outcome.status == Status::undecided) return {"UNSURE", '~'};
  if (info.passing && is_noisy(result)) return {"NOISY", '~'};
  return {info.passing ? "PASS" : "XFAIL", ' '};
}

namespace {

/// Returns a metric, or "unknown" if its interval says nothing. Empty without the metric.
std::string known_text(const Result& result, const std::string& key) {
  const auto value = metric_of(result, key.c_str());
  return !value ? "" : is_unknown(result, key) ? "unknown" : format_metric(key, *value);
}

/// Returns the compiles with these caches, "cold" or "warm": "12.30 s (CPU 20.10 s [19.80 20.50])".
std::string measured_compile(const Result& result, const std::string& caches) {
  const std::string of_cpu = caches + "_compile_cpu_s";
  const std::string text = known_text(result, caches + "_compile_s"), cpu = known_text(result, of_cpu);
  if (text.empty() || cpu.empty()) return text;
  const auto bounds = is_unknown(result, of_cpu) ? std::nullopt : interval_of(result, of_cpu);
  const std::string interval = bounds ? fmt::format(" [{:.2f} {:.2f}]", bounds->low, bounds->high) : "";
  return fmt::format("{} (CPU {}{})", text, cpu, interval);
}

/// Returns how the ranks of a case scale: "scaling 0.93x [0.91 0.95]  exposed 12.0% [10.1 14.2]". The numbers are of
/// the compiled side, unless only eager ran.
std::string ranks_text(const Result& result) {
  const std::string side = metric_of(result, "compiled_scaling") ? "compiled" : "eager";
  const auto scaling = metric_of(result, (side + "_scaling").c_str());
  if (!scaling) return "";
  const auto of_scaling = interval_of(result, side + "_scaling");
  std::string text = "scaling " + (of_scaling ? ratio_text(*scaling, of_scaling->low, of_scaling->high, 2)
                                              : format_metric(side + "_scaling", *scaling));
  const auto exposed = metric_of(result, (side + "_exposed_pct").c_str());
  const auto cost = interval_of(result, side + "_exchange_cost");
  if (!exposed || !cost) return text;
  const auto percent = [](double ratio) { return 100 * (1 - 1 / ratio); };
  return text +
         (is_unknown(result, side + "_exchange_cost")
              ? "  exposed unknown"
              : fmt::format("  exposed {:.1f}% [{:.1f} {:.1f}]", *exposed, percent(cost->low), percent(cost->high)));
}

}  // namespace

std::string compile_text(const Result& result) {
  if (const std::string cold = measured_compile(result, "cold"); !cold.empty())
    return fmt::format("{}, warm {}", cold, measured_compile(result, "warm"));
  const auto seconds = metric_of(result, "compile_s");
  if (!seconds) return "";
  const std::string text = format_metric("compile_s", *seconds);
  if (is_warm_compile(result.outcome.metrics)) return text + " (warm)";
  const double concurrent = metric_of(result, "concurrent_compiles").value_or(0);
  if (concurrent == 0) return text;
  const auto cpu = metric_of(result, "compile_cpu_s");
  const std::string of_cpu = cpu ? fmt::format("CPU {}, ", format_metric("compile_cpu_s", *cpu)) : "";
  return fmt::format("{} ({}{:.0f} concurrent)", text, of_cpu, concurrent);
}

std::string numbers_line(const Result& result) {
  const auto find = [&](const char* key) { return metric_of(result, key); };
  std::string line;
  const auto add = [&](const std::string& part) { line += (line.empty() ? "" : "  ") + part; };
  if (const auto error = find("error_of_limit")) add(fmt::format("err {:.2g}×", *error));
  if (const std::string rounding = rounding_text(result); !rounding.empty()) add(rounding);
  if (const std::string weak = weak_limits(result); !weak.empty()) add(weak);
  if (const auto speedup = find("speedup")) {
    const bool is_number = std::isfinite(*speedup) && !is_unknown(result, "speedup");
    add((is_number ? "" : "speed-up ") + speedup_text(result, 2) + (is_noisy(result) ? " (noisy)" : ""));
  }
  if (const std::string ranks = ranks_text(result); !ranks.empty()) add(ranks);
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
  if (const std::string unjudged = unjudged_text(result); !unjudged.empty()) numbers += "  " + terminal_line(unjudged);
  if (verdict.word == "NOISY") numbers += "  noisy: " + terminal_line(noisy_reason(result));
  const bool below = verdict.mark == '!' || verdict.mark == '*';
  if (below && result.expected != "pass") numbers += ", expected " + terminal_line(expected_words(result));
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
  if (const std::string why = value_in(outcome.notes, "expected_because"); !why.empty())
    row += margin + shortened("expected: " + terminal_line(first_line(why)), reason_width);
  for (const auto& line : trust_lines(result, row + whole_reason, width)) row += margin + line;
  if (!below) return row;
  if (!result.reproduce.empty()) row += margin + "again: " + terminal_line(first_line(result.reproduce));
  // The diagnosis is last, because the row may be printed before it is made.
  const std::string& why = outcome.diagnosis ? outcome.diagnosis->sentence : outcome.undiagnosed;
  if (!why.empty()) row += margin + "diagnosis: " + terminal_line(first_line(why));
  return row;
}

}  // namespace torchstone
