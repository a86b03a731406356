#include "reports/console/tournament_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/metric.h"

namespace torchstone::console {
namespace {

using judge::Standing;
using judge::Tournament;

std::string or_dash(const char* metric, const std::optional<double>& value) {
  return value ? format_metric(metric, *value) : "-";
}

std::string mark_of(const Standing& s, bool color) {
  if (!s.timed) return colored(s.red ? "✗" : "-", s.red ? Color::red : Color::yellow, color);
  return s.ties ? colored("★", Color::green, color) : " ";
}

std::string timed_line(const Standing& s, size_t name_width, bool color) {
  const auto& e = s.entrant;
  return fmt::format("{} {:<{}} {:>11} {:>21} {:>15} {:>9} {:>10} {:>9} {:>9} {:>10} {}\n", mark_of(s, color),
                     terminal_line(e.name), name_width, format_metric("compiled_ms", 1e3 * s.seconds),
                     fmt::format("{:.2f}x [{:.2f} {:.2f}]", s.speedup, s.speedup_low, s.speedup_high),
                     fmt::format("{:.2f}..{:.2f}x", s.of_best_low, s.of_best_high), or_dash("max_rel_error", e.error),
                     or_dash("compiled_peak_bytes", e.peak_bytes), or_dash("first_call_s", e.start_s),
                     or_dash("compile_s", e.compile_s), or_dash("artifact_bytes", e.artifact_bytes),
                     s.on_front ? "front" : "");
}

std::string out_line(const Standing& s, size_t name_width, size_t width, bool color) {
  const std::string line = fmt::format("{:<{}} {}: {}", terminal_line(s.entrant.name), name_width,
                                       to_string(s.entrant.status), terminal_line(first_line(s.entrant.out)));
  return fmt::format("{} {}\n", mark_of(s, color), shortened(line, std::max<size_t>(width, 40) - 2));
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
    if (!e.code.empty()) text += fmt::format("    C++: {}\n", terminal_line(e.code));
  }
  return text.empty() ? "" : "To ship it:\n" + text;
}

}  // namespace

std::string tournament_text(const judge::Tournament& tournament, size_t width, bool color) {
  size_t name_width = 8;
  for (const Standing& s : tournament.standings) name_width = std::max(name_width, s.entrant.name.size());
  std::string text = fmt::format("\n{}\n", terminal_line(tournament.title));
  if (!tournament.best.empty())
    text += fmt::format("  {:<{}} {:>11} {:>21} {:>15} {:>9} {:>10} {:>9} {:>9} {:>10}\n", "variant", name_width,
                        "time", "speed-up", "of the best", "error", "memory", "start-up", "compile", "artifact");
  for (const Standing& s : tournament.standings)
    text += s.timed ? timed_line(s, name_width, color) : out_line(s, name_width, width, color);
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

}  // namespace torchstone::console
