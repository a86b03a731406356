#include "reports/progress.h"

#include <chrono>
#include <iostream>

#include <fmt/format.h>

#include "reports/terminal.h"
#include "reports/text.h"

namespace torchstone {
namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Progress::Progress(std::ostream& out, ProgressOptions options) : out_(out), options_(std::move(options)) {
  if (!options_.clock) options_.clock = steady_seconds;
  if (!options_.width) options_.width = terminal_width;
  begun_ = last_written_ = now();
  last_drawn_ = begun_ - options_.redraw_s;
}

void Progress::begin() { begun_ = last_written_ = now(); }

void Progress::show(std::string_view what) {
  const double time = now();
  const std::string line = fmt::format("{:5.0f} s  {}", time - begun_, printable(first_line(what)));
  if (!options_.live) {
    if (time - last_written_ < options_.heartbeat_s) return;
    last_written_ = time;
    out_ << "... " << line << std::endl;
    return;
  }
  if (drawn_ && time - last_drawn_ < options_.redraw_s) return;
  last_drawn_ = time;
  drawn_ = true;
  // One column stays free: a full line would make some terminals wrap.
  out_ << '\r' << shortened(line, options_.width() - 1) << "\033[K" << std::flush;
}

void Progress::clear() {
  last_written_ = now();
  if (!drawn_) return;
  out_ << "\r\033[K" << std::flush;
  drawn_ = false;
}

Progress& progress() {
  static Progress instance(std::cout, {.live = output_is_terminal(), .clock = {}, .width = {}});
  return instance;
}

void show_progress(std::string_view what) { progress().show(what); }
void clear_progress() { progress().clear(); }

}  // namespace torchstone
