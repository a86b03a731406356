#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/change.h"
#include "reports/judge/history.h"

namespace torchstone::judge {

/// The samples of that name; empty where the record has none.
const std::vector<double>& samples_of(const Result& result, const std::string& key);

/// Where the threads of the processes lay that count, or of those whose samples have this prefix: the median of their
/// fork_join_us (reports/statistics/processes.h); 0 where it is not known.
double fork_join_us_of(const Result& result, const std::string& prefix = "");

}  // namespace torchstone::judge

// What a record says of a timing that another process will have, and how two records differ. Pure functions over
// samples.

namespace torchstone::judge {

/// What the error of a level is known from.
enum class LevelFrom { processes, runs, history, rounds, constant };

/// The logarithm of a timing, with the error that another process of the same code would make of it.
struct Level {
  double value = 0;
  double variance = 0;  ///< of value
  double degrees = 0;   ///< of freedom of the variance; means nothing for a constant
  LevelFrom from = LevelFrom::constant;
  double processes = 1;  ///< whose mean it is
};

/// A deviation from run to run and its degrees of freedom.
struct RunToRun {
  double deviation = 0, degrees = 0;
};

/// How much the logarithm of each timing moves from run to run on one machine, by case and metric: half the mean square
/// of successive differences (von Neumann, Ann. Math. Statist. 12, 1941), so that a step in the series counts once and
/// not for ever; at least 0.5 %. Its degrees of freedom are about two thirds of the differences. Series of fewer than
/// five runs are left out.
using RunToRunOfCases = std::map<std::pair<std::string, std::string>, RunToRun>;
RunToRunOfCases run_to_run(const std::vector<HistoryPoint>& history, const std::string& machine);

/// A record of several processes (samples `process_rounds`): the mean of the processes' medians without the tenth of
/// them at each end (statistics::trimmed_mean), with at least the deviation of `history`, whose runs may differ by more
/// than their processes. A record of one process says nothing of another one: its median has that deviation, else 2.8
/// times the standard error that its rounds have, at least 2 %, with three degrees of freedom. 2.8 is the median over
/// the 16 timed cases of the default suites, 2 % about the deviation that it makes there; it is up to 7 in single ones,
/// which a t distribution of three degrees allows for. Nothing without usable samples, or with too few rounds for an
/// interval.
std::optional<Level> level_of(const Result& result, const std::string& metric,
                              const std::optional<RunToRun>& history = std::nullopt);

/// The level of the processes that do not count, because their threads lay elsewhere (samples `uncounted_…`). Nothing
/// of fewer than three of them.
std::optional<Level> uncounted_level_of(const Result& result, const std::string& metric,
                                        const std::optional<RunToRun>& history = std::nullopt);

/// after − before of two levels. Where the processes of both vary alike (Fisher's F, 5 % at each end), as those of
/// unchanged code do, Student's t of their common variance, which the many processes of several runs make known to the
/// few of another one; else Welch's t (Biometrika 34, 1947).
struct LevelChange {
  double value = 0, error = 0;  ///< error: its standard error
  double degrees = 0;

  /// At this confidence.
  Estimate estimate(double confidence) const;
  /// The chance to see this or more of a change for the worse when the true one is no larger than `tolerance`.
  double chance_of_worse(double tolerance, Better better) const;
};
LevelChange change_between(const Level& after, const Level& before);
/// Of independent estimates of one change the mean by these weights, which must not come from the estimates; with
/// Satterthwaite's degrees of freedom (Biometrics Bulletin 2, 1946). Throws std::invalid_argument without any.
LevelChange combined(const std::vector<LevelChange>& changes, const std::vector<double>& weights);

/// Holm's step-down test (Scand. J. Statist. 6, 1979): which of these are rejected when the chance to reject any true
/// hypothesis at all is to be `error`, whatever their dependence.
std::vector<bool> holm(const std::vector<double>& chances, double error);

}  // namespace torchstone::judge
