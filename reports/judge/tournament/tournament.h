#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

// Which of several variants of one model to take: a pure function of what was measured.
namespace torchstone::judge {

/// One variant of the model: a backend with its options.
struct Entrant {
  std::string name;                      ///< "inductor:freezing=true"
  Result ladder;                         ///< its row of the check tournament
  Status status = Status::pass;          ///< the ladder's, or with which it left the timing
  std::string out;                       ///< why it takes no part in the timing; empty: it was timed
  std::vector<double> seconds;           ///< of a call, one value a process; the first ones of eager's processes
  std::optional<double> error;           ///< relative, against float64
  std::optional<double> peak_bytes;      ///< of one call, above what lives before it
  std::optional<double> start_s;         ///< load (of what has no package: its compile) and first call
  std::optional<double> compile_s;       ///< of the package, once
  std::optional<double> artifact_bytes;  ///< of the package
  std::string command, code;             ///< that ship it: what to type, and the line of C++; empty: none
  std::string why_not_shipped;           ///< of a file's variant; empty where there are such lines
};

/// What is compared on the front; less is better in all of them.
struct Criterion {
  const char* key;
  const char* title;
  double margin;        ///< relative: within it two variants are alike, because it is the criterion's noise
  bool missing_is_nil;  ///< what has none costs nothing (no package, no compile); otherwise nobody knows what it costs
  std::optional<double> (*of)(const Entrant& entrant);
};
/// Error, peak memory, start-up, compile, artifact. Time, the first one of the front, is judged by its intervals.
const std::vector<Criterion>& criteria();

/// One variant of the result.
struct Standing {
  Entrant entrant;
  bool timed = false;
  bool red = false;    ///< it was not timed because it failed, not because it does not apply here
  double seconds = 0;  ///< of a call: eager's, the geometric mean of the processes, over the speed-up
  double speedup = 0, speedup_low = 0, speedup_high = 0;  ///< against eager, simultaneous over the variants
  double of_best_low = 0, of_best_high = 0;               ///< its time over that of the fastest other one, simultaneous
  bool ties = false;                                      ///< belongs to the set of the fastest
  bool on_front = false;                              ///< mark_front() (reports/judge/tournament/tournament_choice.h)
  std::optional<double> break_even_calls{};           ///< after which its package has paid for being loaded; 0: at once
  std::optional<double> break_even_compiled_calls{};  ///< and for being compiled
};

/// From so many calls of one process on, take this one.
struct Advice {
  double from_calls = 1;
  std::string name;
  bool operator==(const Advice&) const = default;
};

struct TournamentOptions {
  double confidence = 0.95;
  double margin = 0.02;  ///< relative: what is not surely slower than the fastest by more ties with it
  int looks = 1;         ///< that there may have been at the processes (reports/statistics/race.h)
};

struct Tournament {
  std::string title;                         ///< "my_inference_float32_cpu"
  std::string sweep;                         ///< the title that all combinations of a sweep share; empty: no sweep
  std::map<std::string, std::string> facts;  ///< suite, model, mode, dtype, device, preset, batch_size, threads …
  TournamentOptions options;
  size_t processes = 0;             ///< that count, of those that took part to the end
  std::vector<Standing> standings;  ///< the fastest first, then those that were not timed
  std::vector<std::string> best;    ///< the winner, or those that tie; empty when nothing was timed
  std::vector<Advice> loaded;       ///< where packages were compiled before
  std::vector<Advice> compiled;     ///< where each process compiles for itself
  std::vector<std::string> doubts;  ///< one sentence each
  std::string failure;              ///< why there is no ranking; empty when there is one
  int exit_code = 0;                ///< of this model alone
};

/// Judges what was timed, against the entrant of the name `eager`, which must have been. Without two that were timed
/// there is no ranking, and `failure` says so, unless it says something already.
void judge_tournament(std::vector<Entrant> entrants, Tournament& tournament);

/// "winner inductor:freezing=true", "3 tie: …", or the failure.
std::string verdict_line(const Tournament& tournament);

/// "20", or "20 to 80" where some left the race earlier.
std::string processes_words(const Tournament& tournament);

}  // namespace torchstone::judge
