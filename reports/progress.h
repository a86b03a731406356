#pragma once
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

namespace torchstone {

struct ProgressOptions {
  bool live = false;              ///< a terminal: one line that is redrawn; otherwise heartbeat lines
  double redraw_s = 0.1;          ///< at most ten times a second
  double heartbeat_s = 30;        ///< after so much silence a log gets a line: CI services end jobs that say nothing
  std::function<double()> clock;  ///< seconds; the steady clock when empty
  std::function<size_t()> width;  ///< columns; the terminal's when empty
};

/// What is going on now. Everything that waits calls `show` often; it decides itself when to write. The cursor is never
/// hidden, so that nothing has to be restored after a kill.
class Progress {
 public:
  Progress(std::ostream& out, ProgressOptions options);
  /// A new case begins: its time is counted from here.
  void begin();
  /// `what` is one line, for example "resnet18_inference_float32_inductor_cpu: compile".
  void show(std::string_view what);
  /// Takes the live line away; to be called before anything else is written to the same stream.
  void clear();

 private:
  double now() const { return options_.clock(); }

  std::ostream& out_;
  ProgressOptions options_;
  double begun_, last_written_, last_drawn_;
  bool drawn_ = false;
};

/// The one on standard output, live when that is a terminal.
Progress& progress();
void show_progress(std::string_view what);
void clear_progress();

}  // namespace torchstone
