#pragma once
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torchstone::console {

/// Durations in seconds, by the full name of a case.
using Durations = std::map<std::string, double>;

/// Contents of the live line.
struct ProgressState {
  std::string what, phase;           ///< "resnet18_inference_float32_inductor_cpu", "compile"
  double elapsed_s = 0;              ///< time that this case has taken
  std::optional<double> expected_s;  ///< duration of this case in an earlier run
  size_t number = 0, total = 0;      ///< this is case `number` of `total`; 0: neither is shown
  std::optional<double> left_s;      ///< estimate for the rest of the run
};

/// Returns "   12 s  [3/12] resnet18_inf…ductor_cpu: compile of ~15 s, ~2 min left" in at most `width` columns. If it
/// is too long, the middle of the name is cut first, and then the estimates are left out.
std::string progress_line(const ProgressState& state, size_t width);

struct ProgressOptions {
  bool live = false;        ///< on a terminal, redraws one line; otherwise writes heartbeat lines
  double redraw_s = 0.1;    ///< at most ten times a second
  double heartbeat_s = 30;  ///< silence after which a log gets a line, because CI services end silent jobs; 0: never
  std::function<double()> clock;  ///< seconds; the steady clock when empty
  std::function<size_t()> width;  ///< columns; the terminal's when empty
};

/// Shows the work in progress. Code that begins something calls `show`, and code that waits calls `tick` often. The
/// object decides when to write. It never hides the cursor, so nothing must be restored after a kill.
class Progress {
 public:
  Progress(std::ostream& out, ProgressOptions options);
  /// Sets the cases that will run and their known durations. From now on `begin` counts.
  void expect(std::vector<std::string> cases, Durations earlier);
  /// Begins a new case and its time. Without a name it only begins the time.
  void begin(std::string_view name = {});
  /// `what` is one line, for example "resnet18_inference_float32_inductor_cpu", `phase` a word.
  void show(std::string_view what, std::string_view phase = {});
  /// Writes the latest `show` again if an update is due; nothing after `clear`.
  void tick();
  /// Removes the live line. Call it before anything else is written to the same stream.
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
  Durations seconds_;  ///< of the earlier run, replaced by this run's
  std::string current_;
  size_t number_ = 0;
};

/// Returns the progress of standard output, which is live if that is a terminal.
Progress& progress();
void show_progress(std::string_view what, std::string_view phase = {});
void tick_progress();
void clear_progress();

}  // namespace torchstone::console
