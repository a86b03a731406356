#pragma once
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchstone::console {

/// Seconds by the full name of a case.
using Durations = std::map<std::string, double>;

/// What the live line tells.
struct ProgressState {
  std::string what, phase;           ///< "resnet18_inference_float32_inductor_cpu", "compile"
  double elapsed_s = 0;              ///< of this case
  std::optional<double> expected_s;  ///< of this case, from an earlier run
  size_t number = 0, total = 0;      ///< this is case `number` of `total`; 0: neither is said
  std::optional<double> left_s;      ///< of the whole run
};

/// "   12 s  [3/12] resnet18_inf…ductor_cpu: compile of ~15 s, ~2 min left", at most `width` columns: first the name is
/// shortened, in the middle, then the estimates go.
std::string progress_line(const ProgressState& state, size_t width);

struct ProgressOptions {
  bool live = false;              ///< a terminal: one line that is redrawn; otherwise heartbeat lines
  double redraw_s = 0.1;          ///< at most ten times a second
  double heartbeat_s = 30;        ///< after so much silence a log gets a line (0: never): CI services end silent jobs
  std::function<double()> clock;  ///< seconds; the steady clock when empty
  std::function<size_t()> width;  ///< columns; the terminal's when empty
};

/// What is going on now. Who begins something calls `show`, everything that waits calls `tick` often; it decides itself
/// when to write. The cursor is never hidden, so that nothing has to be restored after a kill.
class Progress {
 public:
  Progress(std::ostream& out, ProgressOptions options);
  /// The cases that will run, and what is known of their durations: from now on `begin` counts.
  void expect(std::vector<std::string> cases, Durations earlier);
  /// A new case begins: its time is counted from here. Without a name: only its time.
  void begin(std::string_view name = {});
  /// `what` is one line, for example "resnet18_inference_float32_inductor_cpu", `phase` a word.
  void show(std::string_view what, std::string_view phase = {});
  /// The same as was shown last, if it is time again; nothing after a `clear`.
  void tick();
  /// Takes the live line away; to be called before anything else is written to the same stream.
  void clear();
  /// Seconds of silence after which a log gets a line; 0: never.
  void set_heartbeat(double seconds) { options_.heartbeat_s = seconds; }

 private:
  double now() const { return options_.clock(); }
  std::optional<double> seconds_of(const std::string& name) const;
  std::optional<double> seconds_left(double elapsed) const;

  std::ostream& out_;
  ProgressOptions options_;
  double begun_, last_written_, last_drawn_;
  bool drawn_ = false;
  std::string what_, phase_;  ///< empty: nothing is going on
  std::vector<std::string> cases_;
  Durations seconds_;  ///< earlier ones, replaced by those of this run
  std::string current_;
  size_t number_ = 0;
};

/// The one on standard output, live when that is a terminal.
Progress& progress();
void show_progress(std::string_view what, std::string_view phase = {});
void tick_progress();
void clear_progress();

}  // namespace torchstone::console
