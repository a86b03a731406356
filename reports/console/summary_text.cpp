#include "reports/console/summary_text.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/report_writer.h>

#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/own_model.h"
#include "reports/record/summary.h"
#include "reports/record/tables/upstream_suites.h"
#include "reports/record/verdict.h"

// The closing summary of a run, for a terminal.

namespace torchstone::console {
namespace {

constexpr size_t lines_in_all = 25, worst_shown = 10, least_name_width = 24, reason_room = 24, least_text_width = 20;
constexpr const char* worst_heading = "Worst first by margin (error/allowed, required/reached speed-up, inf: neither):";

/// Returns the sort key of a case: failures first, then cases that an interruption left undone, then the rest.
int rank_of(const Result& r) {
  if (is_fine(r)) return 2;
  return r.outcome.status == Status::interrupted ? 1 : 0;
}

std::vector<const Result*> worst_of(const std::vector<Result>& results) {
  std::vector<const Result*> worst;
  for (const auto& result : results)
    if (!is_fine(result) || (!is_skipped(result) && margin_of(result) > 0)) worst.push_back(&result);
  std::ranges::stable_sort(worst, [](const Result* a, const Result* b) {
    if (rank_of(*a) != rank_of(*b)) return rank_of(*a) < rank_of(*b);
    return margin_of(*a) > margin_of(*b);
  });
  return worst;
}

/// Whether only the baseline makes the case red.
bool is_red_by_baseline_alone(const Result& r) { return r.finished && !is_fine(r) && r.status_as_expected(); }

/// Returns the number by which the lines are sorted. It is "-" for a case that an interruption left undone, and the
/// word of the verdict for a case that the baseline makes red.
std::string margin_text(const Result& r) {
  if (is_red_by_baseline_alone(r)) return std::string(verdict_of(r).word);
  return rank_of(r) == 1 ? "-" : fmt::format("{:.2g}", margin_of(r));
}

/// Returns the line of one case. The name is shortened to leave room for status, numbers and the beginning of the
/// reason. If only the baseline makes the case red, the reason precedes the numbers.
std::string worst_line(const Result& r, size_t width) {
  std::string facts;
  const bool worse = is_red_by_baseline_alone(r);
  if (r.outcome.status != Status::pass || (!is_fine(r) && !worse))
    facts += fmt::format("  {}", to_string(r.outcome.status));
  if (!is_fine(r) && !worse && r.expected != "pass")
    facts += ", expected " + terminal_line(first_line(expected_words(r)));
  std::string reason = is_fine(r) || reason_of(r).empty() ? "" : "  " + terminal_line(first_line(reason_of(r)));
  (worse ? reason : facts) += sized_numbers(r);
  const std::string head = fmt::format("  {} {:<5} ", verdict_of(r).mark, margin_text(r));
  const size_t taken = head.size() + columns(facts) + std::min(reason_room, columns(reason));
  const size_t room = std::max(least_name_width, width > taken ? width - taken : 0);
  return shortened(head + fitting_filter(first_line(r.name), room) + facts + reason, width);
}

/// Distributes the parts over lines of at most `width` columns. The first line begins with `head`; the others are
/// indented by its width.
std::vector<std::string> wrapped(const std::string& head, const std::vector<std::string>& parts, size_t width) {
  std::vector<std::string> lines = {head};
  for (const auto& part : parts) {
    const bool is_first = columns(lines.back()) == columns(head);
    if (!is_first && columns(lines.back()) + 1 + columns(part) > width)
      lines.push_back(std::string(columns(head), ' ') + part);
    else
      lines.back() += (is_first ? "" : " ") + part;
  }
  return lines;
}

/// Adds the items with commas between them.
void add_wrapped(std::vector<std::string>& lines, const std::string& head, const std::vector<std::string>& items,
                 size_t width) {
  if (items.empty()) return;
  std::vector<std::string> parts;
  for (const auto& item : items) parts.push_back(terminal_line(item) + (&item == &items.back() ? "" : ","));
  std::ranges::move(wrapped(head, parts, width), std::back_inserter(lines));
}

std::vector<std::string> counts_of(const std::vector<Result>& results) {
  std::vector<std::string> counts;
  for (const auto& [status, count] : count_by_status(results))
    counts.push_back(fmt::format("{} {}", count, to_string(status)));
  if (const std::string noisy = noisy_words(results); !noisy.empty()) counts.push_back(noisy);
  return counts;
}

/// Returns " (left out: 1 crash)" or nothing.
std::string but(const Average& average) {
  const std::string words = excluded_text(average);
  return words.empty() ? "" : fmt::format(" (left out: {})", words);
}

/// Returns ", 2 of them noisy" or nothing.
std::string noisy_part(const Average& average) {
  return average.noisy == 0 ? "" : fmt::format(", {} of them noisy", average.noisy);
}

/// Returns how many compiles were slowed down by concurrent work.
std::string concurrency_note(const std::vector<Result>& results, const std::string& machine) {
  const auto count = std::ranges::count_if(results, [&](const Result& r) {
    return r.check == "performance" && r.machine == machine && metric_of(r, "concurrent_compiles").value_or(0) > 0;
  });
  return count == 0 ? "" : fmt::format(", {} of them with concurrent compiles", count);
}

/// Returns the averages that upstream prints at the end of a run, if they were measured.
std::vector<std::string> averages_of(const std::vector<Result>& results) {
  std::vector<std::string> parts;
  const auto is_timing = [](const Result& r) { return r.check == "performance"; };
  const auto machines = machines_of_timings(results);
  if (std::ranges::any_of(results, is_timing)) {
    const bool mini =
        std::ranges::all_of(results, [&](const Result& r) { return !is_timing(r) || r.preset == "mini"; });
    for (const auto& machine : machines) {
      const Geomean geomean = geomean_of(results, machine);
      const std::string on = on_machine(machine);
      parts.push_back(geomean.n == 0
                          ? fmt::format("speed-up{}: not measured{}", on, but(geomean))
                          : fmt::format("speed-up{}: geometric mean {:.3f}x over {}{}{}{}", on, geomean.value,
                                        geomean.n, mini ? " mini models" : "", noisy_part(geomean), but(geomean)));
    }
  }
  if (const Average rate = pass_rate_of(results); rate.n > 0)
    parts.push_back(fmt::format("pass rate {:.1f} % of {}{}", 100 * rate.value, rate.n, but(rate)));
  const Detection detection = detection_of(results);
  for (const auto& words : {detection_words(detection), weak_words(detection)})
    if (!words.empty()) parts.push_back(words);
  for (const auto& machine : machines)
    if (const Average compile = mean_of(results, "compile_s", machine); compile.n > 0)
      parts.push_back(fmt::format("compile{}: mean {:.1f} s over {}{}", on_machine(machine), compile.value, compile.n,
                                  concurrency_note(results, machine)));
  for (const auto& machine : machines)
    if (const Average ratio = mean_of(results, "peak_ratio", machine); ratio.n > 0)
      parts.push_back(fmt::format("peak memory, eager / compiled{}: mean {:.3f}x over {}", on_machine(machine),
                                  ratio.value, ratio.n));
  return parts;
}

/// Returns "my_model" for the user's own model without expectations, else "7 of 8 cases as expected".
std::string subject_words(const std::vector<Result>& results) {
  if (is_own_without_expectations(results)) return terminal_line(model_names(results));
  return fmt::format("{} of {} as expected", std::ranges::count_if(results, is_fine), counted(results.size(), "case"));
}

std::string head_line(const std::vector<Result>& results, const RunInfo& run) {
  const int code = run.exit_code.value_or(ExitCode::success);
  const std::string why = run.exit_words.empty() ? "" : ": " + terminal_line(first_line(run.exit_words));
  return fmt::format("Torchstone: {}, {:.0f} s{}{}", subject_words(results), run.duration_s,
                     is_complete(run) ? "" : ", " + terminal_line(first_line(run.exit_reason)),
                     code == ExitCode::success ? "" : fmt::format(", exit code {}{}", code, why));
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Returns a sentence for each backend and mode of the user's own model, in at most `most` lines.
std::vector<std::string> own_model_lines(const std::vector<Result>& results, size_t most, size_t width) {
  std::vector<std::string> lines;
  const auto sentences = own_model_sentences(results);
  for (size_t i = 0; i < sentences.size(); ++i) {
    const auto& [text, mark] = sentences[i];
    const std::string head = fmt::format("  {} ", mark);
    const auto added = wrapped(head, words_of(terminal_line(text)), std::max(width, columns(head) + least_text_width));
    const size_t reserved = i + 1 == sentences.size() ? 0 : 1;  // for "… and 2 more on the page"
    if (lines.size() + added.size() + reserved > most) {
      lines.push_back(shortened(fmt::format("  … and {} more on the page", sentences.size() - i), width));
      break;
    }
    lines.insert(lines.end(), added.begin(), added.end());
  }
  return lines;
}

/// Returns the path of the HTML page, the names of the other reports in its folder, and the number of reports in each
/// folder below.
std::vector<std::string> report_lines(const std::vector<std::string>& paths, size_t width) {
  if (paths.empty()) return {};
  const auto page = std::ranges::find_if(paths, [](const std::string& path) { return path.ends_with(".html"); });
  const std::string& first = page == paths.end() ? paths.front() : *page;
  const auto folder_of = [](const std::string& path) { return std::filesystem::path(path).parent_path(); };
  std::vector<std::string> others;
  std::map<std::string, size_t> below;
  for (const auto& path : paths) {
    if (path == first) continue;
    if (folder_of(path).parent_path() == folder_of(first))
      ++below[folder_of(path).filename().string()];
    else
      others.push_back(short_name(path));
  }
  for (const auto& [folder, count] : below) others.push_back(fmt::format("{}/ ({})", folder, counted(count, "table")));
  std::vector<std::string> lines = {"Report: " + terminal_line(first)};
  if (!others.empty())
    lines.push_back(shortened(terminal_line(fmt::format("Also written: {}", fmt::join(others, ", "))), width));
  return lines;
}

/// Returns the command that reproduces the first failure, or else the first interrupted case.
std::string again_line(const std::vector<Result>& results) {
  const Result* first = nullptr;
  for (const auto& r : results)
    if (!is_fine(r) && !r.reproduce.empty() && (first == nullptr || rank_of(r) < rank_of(*first))) first = &r;
  return first == nullptr ? "" : "Again: " + terminal_line(first_line(first->reproduce));
}

using judge::Standing;
using judge::Tournament;

std::string or_dash(const char* metric, const std::optional<double>& value) {
  return value ? format_metric(metric, *value) : "-";
}

/// Returns the mark of a variant; a star recommends it. `advised`: whether the tournament gives advice.
std::string mark_of(const Standing& s, bool advised, bool color) {
  if (!s.timed) return colored(s.red ? "✗" : "-", s.red ? Color::red : Color::yellow, color);
  return s.ties && advised ? colored("★", Color::green, color) : " ";
}

std::string timed_line(const Standing& s, size_t name_width, bool advised, bool color) {
  const auto& e = s.entrant;
  return fmt::format("{} {:<{}} {:>11} {:>21} {:>16} {:>9} {:>10} {:>9} {:>9} {:>10} {}\n", mark_of(s, advised, color),
                     terminal_line(e.name), name_width, format_metric("compiled_ms", 1e3 * s.seconds),
                     ratio_text(s.speedup, s.speedup_low, s.speedup_high, 2), judge::fastest_other_text(s, 2),
                     or_dash("max_rel_error", e.error), or_dash("compiled_peak_bytes", e.peak_bytes),
                     or_dash("first_call_s", e.start_s), or_dash("compile_s", e.compile_s),
                     or_dash("artifact_bytes", e.artifact_bytes), s.on_front ? "front" : "");
}

std::string out_line(const Standing& s, size_t name_width, size_t width, bool color) {
  const std::string line = fmt::format("{:<{}} {}: {}", terminal_line(s.entrant.name), name_width,
                                       to_string(s.entrant.status), terminal_line(first_line(s.entrant.out)));
  return fmt::format("{} {}\n", mark_of(s, /*advised=*/false, color), shortened(line, std::max<size_t>(width, 40) - 2));
}

std::string calls_text(double calls) { return fmt::format("{:.0f} call{}", calls, calls == 1 ? "" : "s"); }

std::string advice_text(const std::vector<judge::Advice>& advice) {
  std::string text;
  for (const auto& one : advice)
    text += fmt::format("{}for ≥ {} take {}", text.empty() ? "" : "; ", calls_text(one.from_calls), one.name);
  return terminal_line(text);
}

std::string ways_to_ship(const Tournament& tournament) {
  std::string text;
  for (const Standing& s : tournament.standings) {
    const auto& e = s.entrant;
    if (!s.ties || (e.command.empty() && e.code.empty() && e.why_not_shipped.empty())) continue;
    text += fmt::format("  {}{}{}\n", terminal_line(e.name), e.why_not_shipped.empty() ? "" : ": ",
                        terminal_line(e.why_not_shipped));
    if (!e.command.empty()) text += fmt::format("    $ {}\n", terminal_line(e.command));
    if (!e.python.empty()) text += fmt::format("    Python: {}\n", terminal_line(e.python));
    if (!e.code.empty()) text += fmt::format("    C++: {}\n", terminal_line(e.code));
    if (e.shipped) text += fmt::format("    {}\n", terminal_line(judge::shipped_words(*e.shipped)));
    if (!e.why_not_measured.empty())
      text += fmt::format("    not measured as shipped: {}\n", terminal_line(e.why_not_measured));
  }
  return text.empty() ? "" : judge::shipping_heading(tournament) + ":\n" + text;
}

}  // namespace

std::string write_summary(const std::vector<Result>& results, const RunInfo& run,
                          const std::vector<std::string>& report_paths, size_t width) {
  const bool is_own = are_of_own_model(results);
  std::vector<std::string> lines = {shortened(head_line(results, run), width)};
  if (!is_own) add_wrapped(lines, "  ", counts_of(results), width);
  for (const auto& line : baseline_lines(run)) lines.push_back(shortened(terminal_line("  " + line), width));
  if (!is_own)
    for (const auto& part : averages_of(results)) lines.push_back(shortened(terminal_line("  " + part), width));
  if (const std::string doubts = machine_doubts_line(results, run.machine); !doubts.empty())
    lines.push_back(shortened(terminal_line(fmt::format("  {}; the page says what to do", doubts)), width));
  for (const auto& line : tables::operatorbench_lines(results)) lines.push_back(shortened(terminal_line(line), width));
  auto last = report_lines(report_paths, width);
  if (const std::string again = again_line(results); !again.empty()) last.push_back(again);
  if (run.baseline && !run.baseline->again.empty()) last.push_back("Compared: " + terminal_line(run.baseline->again));
  if (is_own) {
    const size_t taken = lines.size() + last.size();
    for (auto& line : own_model_lines(results, lines_in_all - std::min(taken, lines_in_all - 1), width))
      lines.push_back(std::move(line));
  } else if (const auto worst = worst_of(results); !worst.empty()) {
    const size_t taken = lines.size() + last.size() + 2;  // with heading and the line of cases not shown
    const size_t shown = std::min({worst.size(), worst_shown, lines_in_all - std::min(taken, lines_in_all)});
    lines.push_back(shortened(worst_heading, width));
    for (size_t i = 0; i < shown; ++i) lines.push_back(worst_line(*worst[i], width));
    const auto undone = static_cast<size_t>(std::ranges::count_if(worst, [](const Result* r) { return !is_fine(*r); }));
    if (undone > shown)
      lines.push_back(shortened(fmt::format("  … and {} more not as expected", undone - shown), width));
  }
  lines.insert(lines.end(), last.begin(), last.end());
  return terminal_text(fmt::format("{}\n", fmt::join(lines, "\n")));
}

// This writer runs last, because it names the files of all others.
TORCHSTONE_REPORT_WRITER(
    summary, .help = "The closing summary of a run", .order = 2000, .file = "summary.txt",
    .text = [](const Report& report, const WriteOptions& options) {
      return write_summary(report.results, report.run, options.written);
    });

std::string tournament_text(const judge::Tournament& tournament, size_t width, bool color) {
  size_t name_width = 8;
  for (const Standing& s : tournament.standings) name_width = std::max(name_width, s.entrant.name.size());
  std::string text = fmt::format("\n{}\n", terminal_line(tournament.title));
  if (!tournament.best.empty())
    text +=
        fmt::format("  {:<{}} {:>11} {:>21} {:>16} {:>9} {:>10} {:>9} {:>9} {:>10}\n", "variant", name_width, "time",
                    "speed-up", judge::fastest_other_heading, "error", "memory", "start-up", "compile", "artifact");
  const bool advised = judge::why_no_advice(tournament).empty();
  for (const Standing& s : tournament.standings)
    text += s.timed ? timed_line(s, name_width, advised, color) : out_line(s, name_width, width, color);
  for (const auto& entrant : tournament.separate)
    text += fmt::format("  {:<{}} {}\n", terminal_line(entrant.name), name_width,
                        terminal_line(judge::separate_words(*entrant.separate)));
  text += fmt::format("  {}", terminal_line(judge::verdict_line(tournament)));
  if (!tournament.best.empty())
    text += fmt::format(" ({} processes, {:.3g} % intervals over all variants, within {:.3g} %)",
                        judge::processes_words(tournament), 100 * tournament.options.confidence,
                        100 * tournament.options.margin);
  text += "\n";
  if (!tournament.loaded.empty())
    text += fmt::format("  Packages compiled before: {}\n", advice_text(tournament.loaded));
  if (tournament.compiled != tournament.loaded)
    text += fmt::format("  Compiled by each process: {}\n", advice_text(tournament.compiled));
  for (const auto& doubt : tournament.doubts) text += fmt::format("  ! {}\n", terminal_line(doubt));
  return text + ways_to_ship(tournament);
}

std::string sweep_text(const judge::Sweep& sweep) {
  std::string text = fmt::format("\nThe fastest of {}\n  {:>10} {:>7} {:>11} {:>21} {:>11}  variant\n",
                                 terminal_line(sweep.title), "batch size", "threads", "time", "speed-up", "samples/s");
  for (const judge::SweepRow& row : sweep.rows) {
    const bool ranked = row.seconds > 0;
    const auto or_dash = [&](const std::string& number) { return ranked ? number : std::string("-"); };
    text += fmt::format("  {:>10} {:>7} {:>11} {:>21} {:>11}  {}\n", row.batch_size, row.threads,
                        or_dash(format_metric("compiled_ms", 1e3 * row.seconds)),
                        or_dash(ratio_text(row.speedup, row.speedup_low, row.speedup_high, 2)),
                        or_dash(fmt::format("{:.4g}", row.samples_per_s)), terminal_line(judge::fastest_words(row)));
  }
  return text;
}

}  // namespace torchstone::console
