#include "reports/console/progress.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include <fmt/format.h>

#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/base/time.h"

namespace torchstone::console {
namespace {

constexpr size_t log_width = 200, shortest_name = 16;

std::string rough(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string progress_line(const ProgressState& state, size_t width) {
  std::string head = fmt::format("{:5.0f} s  ", state.elapsed_s);
  if (state.total > 1) head += fmt::format("[{}/{}] ", state.number, state.total);
  const std::string what = terminal_line(first_line(state.what));
  const std::string phase = state.phase.empty() ? "" : ": " + terminal_line(first_line(state.phase));
  const std::string expected = state.expected_s ? fmt::format(" of ~{}", rough(*state.expected_s)) : "";
  const std::string left = state.left_s ? fmt::format(", ~{} left", rough(*state.left_s)) : "";
  for (const std::string& tail : {phase + expected + left, phase + left, phase}) {
    const size_t taken = columns(head) + columns(tail);
    if (taken + std::min(shortest_name, columns(what)) > width) continue;
    return head + shortened_middle(what, width - taken) + tail;
  }
  return shortened(head + what + phase, width);
}

Progress::Progress(std::ostream& out, ProgressOptions options) : out_(out), options_(std::move(options)) {
  if (!options_.clock) options_.clock = steady_seconds;
  if (!options_.width) options_.width = terminal_width;
  begun_ = last_written_ = now();
  last_drawn_ = begun_ - options_.redraw_s;
}

void Progress::expect(std::vector<std::string> cases, Durations earlier) {
  cases_ = std::move(cases);
  seconds_ = std::move(earlier);
  current_.clear();
  number_ = 0;
}

void Progress::begin(std::string_view name) {
  const double time = now();
  if (!name.empty()) {
    if (!current_.empty()) seconds_[current_] = time - begun_;
    current_ = name;
    ++number_;
  }
  begun_ = last_written_ = time;
}

std::optional<double> Progress::seconds_of(const std::string& name) const {
  const auto found = seconds_.find(name);
  return found == seconds_.end() ? std::nullopt : std::optional(found->second);
}

/// Returns the sum of the known durations of the remaining cases; a case with unknown duration counts as their mean.
/// Empty if the current case has exceeded its estimate.
std::optional<double> Progress::seconds_left(double elapsed) const {
  double known = 0;
  size_t known_count = 0;
  for (const auto& name : cases_) {
    if (const auto seconds = seconds_of(name)) {
      known += *seconds;
      ++known_count;
    }
  }
  if (known_count == 0 || number_ == 0) return std::nullopt;
  const double mean = known / static_cast<double>(known_count);
  double left = seconds_of(current_).value_or(mean) - elapsed;
  if (left < 0) return std::nullopt;  // the estimates are too low, so those of the other cases may be too
  for (size_t i = number_; i < cases_.size(); ++i) left += seconds_of(cases_[i]).value_or(mean);
  return left;
}

void Progress::show(std::string_view what, std::string_view phase) {
  what_ = what;
  phase_ = phase;
  tick();
}

void Progress::tick() {
  if (what_.empty()) return;
  const double time = now();
  const bool due = options_.live ? !drawn_ || time - last_drawn_ >= options_.redraw_s
                                 : options_.heartbeat_s > 0 && time - last_written_ >= options_.heartbeat_s;
  if (!due) return;
  const double elapsed = time - begun_;
  const ProgressState state{
      what_, phase_, elapsed, seconds_of(current_), number_, number_ > 0 ? cases_.size() : 0, seconds_left(elapsed)};
  if (!options_.live) {
    last_written_ = time;
    out_ << "... " << progress_line(state, log_width) << std::endl;
    return;
  }
  last_drawn_ = time;
  drawn_ = true;
  // Leaves one column free, because some terminals wrap a full line.
  out_ << '\r' << progress_line(state, options_.width() - 1) << "\033[K" << std::flush;
}

void Progress::clear() {
  what_.clear();
  last_written_ = now();
  if (!drawn_) return;
  out_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

Progress& progress() {
  static Progress instance(std::cout, {.live = output_is_terminal(), .clock = {}, .width = {}});
  return instance;
}

void show_progress(std::string_view what, std::string_view phase) { progress().show(what, phase); }
void tick_progress() { progress().tick(); }
void clear_progress() { progress().clear(); }

}  // namespace torchstone::console
