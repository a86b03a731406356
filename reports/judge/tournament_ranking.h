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
  bool on_front = false;                                  ///< mark_front()
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
  int looks = 1;         ///< that there may have been at the processes (reports/statistics/multiple_comparisons.h)
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

// What to take, beside being the fastest. Of standings whose times are known; those that were not timed take no part.

namespace torchstone::judge {

/// After how many calls of a process each variant that is surely faster than eager (speedup_low over 1) has paid for
/// what it costs before.
void add_break_even(std::vector<Standing>& standings);

/// Marks the Pareto front of time and criteria(). A variant is off it when another one is better in one of them and
/// worse in none, beyond their margins. Those that tie with the fastest are alike in time. By margins a can be better
/// than b, b than c and c than a: then they count as alike, so that the front has a variant always (the Schwartz set:
/// Schwartz, "Rationality and the myth of the maximum", Noûs 6, 1972).
void mark_front(std::vector<Standing>& standings, double time_margin);

/// The lower envelope of the costs setup + calls × time: eager, and what is surely faster than it. Variants that tie
/// with the fastest have its time, so that of them the one with the least setup is advised. `compile_too`: the setup
/// holds the compile of the package.
std::vector<Advice> advice(const std::vector<Standing>& standings, bool compile_too);

/// What a reader must know where a judged tournament has timed variants with an error budget of their own (the note
/// `judged_by` of their rows): a sentence for each, and, where one of them is among the fastest, which is the fastest
/// of the others. `standings`: the fastest first.
std::vector<std::string> doubts_of_quantised(const std::vector<Standing>& standings);

/// Of one model that was judged. A variant that is out is no failure of the tournament; a model without a ranking is,
/// and so is a variant of which the infrastructure let nobody judge. `failed`: the status of a timing that failed as a
/// whole, or pass.
int exit_code_of_model(const Tournament& tournament, Status failed);

/// Of a run, from those of its models: what is worst to a reader, a wrong answer before the infrastructure, and that
/// before a model of which nothing was judged.
int exit_code_of_models(const std::vector<Tournament>& tournaments);

}  // namespace torchstone::judge

// Which variant to take at which batch size and thread count: tournaments of one model side by side.

namespace torchstone::judge {

/// One tournament of a sweep.
struct SweepRow {
  std::string batch_size{}, threads{};  ///< as the tournament has them; "-": LibTorch's choice
  std::string fastest{};                ///< the winner, or those that tie; "no ranking: …" without one
  double seconds = 0;                   ///< of a call of the fastest; 0 without a ranking, as the numbers below
  double samples_per_s = 0;
  double speedup = 0, speedup_low = 0, speedup_high = 0;  ///< of the fastest against eager at the same combination
};

struct Sweep {
  std::string title;           ///< Tournament::sweep
  std::vector<SweepRow> rows;  ///< in the order in which they were held
};

/// The sweeps among the tournaments, each with all of its combinations. None for tournaments that belong to no sweep.
std::vector<Sweep> sweeps_of(const std::vector<Tournament>& tournaments);

}  // namespace torchstone::judge
