#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/separate_timing.h"

// Ranks variants of one model by their measurements. Pure functions.

namespace torchstone::judge {

/// Measurements of a variant as a user runs it: made by the shown command, and loaded by the shown line of Python in a
/// new process.
struct Shipped {
  double bytes = 0;  ///< size of all files that the command makes
  double load_s = 0, first_call_s = 0;
  double seconds = 0;  ///< per call, in the fastest block of one process
  double error = 0;    ///< relative difference from the exported program's answer
};

/// Returns "as shipped: 1.5 MiB with all weights, load 0.31 s, first call 0.020 s, then 5.1 ms a call in a new Python
/// process; differs from the exported program by 1e-07".
std::string shipped_words(const Shipped& shipped);

/// One variant of the model: a backend with its options.
struct Entrant {
  std::string name;                          ///< "inductor:freezing=true"
  Result ladder;                             ///< its record of the check tournament
  Status status = Status::pass;              ///< status of the ladder, or of the timing that eliminated it
  std::string out;                           ///< why it was not timed; empty: it was
  std::vector<double> seconds;               ///< per call, one value for each of eager's first processes
  std::optional<double> error;               ///< relative, against float64
  std::optional<double> peak_bytes;          ///< of one call, above the memory in use before it
  std::optional<double> start_s;             ///< load (without a package: compile) and first call
  std::optional<double> compile_s;           ///< of the package, once
  std::optional<double> artifact_bytes;      ///< of the package
  std::optional<SeparateTiming> separate{};  ///< of a variant that is not timed with the others
  std::string command, code;                 ///< to ship it: shell command and line of C++; empty: none
  std::string why_not_shipped;               ///< why a variant of a model file has neither
  std::string python{};                      ///< line of Python that loads the command's output; empty: none
  std::optional<Shipped> shipped{};          ///< measured for variants that may be the fastest
  std::string why_not_measured{};            ///< why such a variant has no `shipped`
};

/// A criterion of the front. Less is better.
struct Criterion {
  const char* key;
  const char* title;
  double margin;        ///< relative noise of the criterion: variants within it are equal
  bool missing_is_nil;  ///< a missing value is 0 (no package, no compile); otherwise it is unknown
  std::optional<double> (*of)(const Entrant& entrant);
};
/// Returns error, peak memory, start-up, compile and artifact. Time, the front's first criterion, is not among them:
/// its intervals replace a margin.
const std::vector<Criterion>& criteria();

/// One variant of the result.
struct Standing {
  Entrant entrant;
  bool timed = false;
  bool red = false;    ///< it was not timed because it failed
  double seconds = 0;  ///< of a call: the geometric mean of eager's processes, divided by the speed-up
  double speedup = 0, speedup_low = 0, speedup_high = 0;  ///< against eager, simultaneous over the variants
  double of_best_low = 0, of_best_high = 0;               ///< its time over the fastest other's, simultaneous
  bool ties = false;                                      ///< is among the fastest
  bool on_front = false;                                  ///< no other variant dominates it
  std::optional<double> break_even_calls{};  ///< calls after which a process costs less than eager's; 0: at once
  std::optional<double> break_even_compiled_calls{};  ///< the same if the process compiles the package
};

/// The cheapest variant for processes that make at least a number of calls.
struct Advice {
  double from_calls = 1;
  std::string name;
  bool operator==(const Advice&) const = default;
};

struct TournamentOptions {
  double confidence = 0.95;
  double margin = 0.02;  ///< relative; a variant ties with the fastest unless it is certainly slower by more
  int looks = 1;         ///< largest number of analyses (reports/statistics/multiple_comparisons.h)
};

struct Tournament {
  std::string title;                         ///< "my_inference_float32_cpu"
  std::string sweep;                         ///< title of the sweep; empty: no sweep
  std::map<std::string, std::string> facts;  ///< suite, model, mode, dtype, device, preset, batch_size, threads …
  TournamentOptions options;
  size_t processes = 0;             ///< counted processes of the variants that stayed to the end
  size_t timed_processes = 0;       ///< all processes that timed, counted or not
  size_t disturbed = 0;             ///< timed processes in which other programs or the host used too much of the CPU
  size_t unwatched = 0;             ///< timed processes whose use of the CPU is unknown
  std::vector<Standing> standings;  ///< the fastest first, then variants without timing
  std::vector<Entrant> separate;    ///< variants that were timed against eager in their own process
  std::vector<std::string> best;    ///< the winner, or the variants that tie; empty if nothing was timed
  std::vector<Advice> loaded;       ///< if packages were compiled before; empty with why_no_advice(), like `compiled`
  std::vector<Advice> compiled;     ///< if each process compiles for itself
  std::vector<std::string> doubts;  ///< one sentence each
  std::string failure;              ///< why there is no ranking; empty if there is one
  int exit_code = 0;                ///< exit code of this model
};

/// Ranks the entrants against the entrant named `eager`, except those with a separate timing. Ranking requires two
/// timed entrants, one of them eager. Otherwise sets `failure`, unless it is set already.
void judge_tournament(std::vector<Entrant> entrants, Tournament& tournament);

/// Returns why nothing is advised, and what to do. Nothing is advised if most of the processes whose use of the CPU is
/// known were disturbed. Empty if there is advice.
std::string why_no_advice(const Tournament& tournament);

/// Heading of the column of fastest_other_text().
inline constexpr const char* fastest_other_heading = "of fastest other";

/// Returns the interval of a variant's time over that of the fastest other one: "[1.00 1.96]". "unknown" without
/// bounds.
std::string fastest_other_text(const Standing& s, int digits);

/// Returns the heading above the commands and lines that ship the fastest variants. Without advice it does not
/// recommend shipping one.
std::string shipping_heading(const Tournament& tournament);

/// Returns "winner inductor:freezing=true", "3 tie: …", "no advice: …" or the failure.
std::string verdict_line(const Tournament& tournament);

/// Returns "20", or "20 to 80" if some variants were eliminated earlier.
std::string processes_words(const Tournament& tournament);

/// Returns a sentence for each timed variant with an error budget of its own (the note `judged_by` of its row). If one
/// of them is among the fastest, a last sentence names the fastest of the others. `standings`: the fastest first.
std::vector<std::string> doubts_of_quantised(const std::vector<Standing>& standings);

/// Returns the exit code of one model. An eliminated variant is no failure. A model without a ranking is a failure, and
/// so is a variant that could not be judged because the infrastructure failed. `failed`: the status of a timing that
/// failed as a whole, or pass.
int exit_code_of_model(const Tournament& tournament, Status failed);

/// Returns the worst exit code of the models: interrupted, then a wrong answer, then the infrastructure, then a model
/// that was not judged.
int exit_code_of_models(const std::vector<Tournament>& tournaments);

/// One tournament of a sweep over batch sizes and thread counts.
struct SweepRow {
  std::string batch_size{}, threads{};  ///< as in the tournament; "-": LibTorch's choice
  std::vector<std::string> fastest{};   ///< the winner, or the variants that tie; empty without a ranking
  std::string failure{};                ///< why there is no ranking; empty if there is one
  bool disturbed = false;               ///< most processes were disturbed, so nothing is advised
  double seconds = 0;                   ///< per call of the fastest; 0 without a ranking, like the numbers below
  double samples_per_s = 0;
  double speedup = 0, speedup_low = 0, speedup_high = 0;  ///< of the fastest against eager at the same combination
};

struct Sweep {
  std::string title;           ///< Tournament::sweep
  std::vector<SweepRow> rows;  ///< in the order in which they ran
};

/// Returns a combination's fastest variants for people: "a, b (most processes were disturbed)", "no ranking: …".
std::string fastest_words(const SweepRow& row);

/// Returns the sweeps among the tournaments, each with all of its combinations.
std::vector<Sweep> group_sweeps(const std::vector<Tournament>& tournaments);

}  // namespace torchstone::judge
