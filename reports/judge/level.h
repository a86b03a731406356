#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/change.h"
#include "reports/judge/history.h"

// Estimates of a timing from its record, and differences of two estimates. Errors include the variation between
// processes. Pure functions over samples.

namespace torchstone::judge {

/// Returns the median fork_join_us (reports/statistics/processes.h) of the processes whose samples have this prefix; 0
/// if it is unknown.
double median_fork_join_us(const Result& result, const std::string& prefix = "");

/// The source of a level's error.
enum class LevelFrom { processes, runs, history, rounds, constant };

/// The logarithm of a timing, with an error that includes the variation between processes of the same code.
struct Level {
  double value = 0;
  double variance = 0;  ///< of `value`
  double degrees = 0;   ///< of freedom of `variance`; meaningless for a constant
  LevelFrom from = LevelFrom::constant;
  double processes = 1;  ///< number of processes in the mean
};

/// A deviation from run to run and its degrees of freedom.
struct RunToRun {
  double deviation = 0, degrees = 0;
};

/// Deviation of the logarithm of each timing from run to run on one machine, by case and metric; at least 0.5 %. Its
/// square is half the mean square of successive differences (von Neumann, Ann. Math. Statist. 12, 1941), so that a step
/// in the series counts once. Its degrees of freedom are about two thirds of the differences. Series of fewer than five
/// runs are skipped.
using RunToRunOfCases = std::map<std::pair<std::string, std::string>, RunToRun>;
RunToRunOfCases run_to_run(const std::vector<HistoryPoint>& history, const std::string& machine);

/// Estimates the level of a record. For several processes (samples `process_rounds`) it is the trimmed mean of their
/// medians, and `history` bounds its deviation from below. For one process it is the median of the rounds, with the
/// deviation of `history`. Without a history that deviation is 2.8 times the standard error of the rounds, at least 2 %
/// (docs/ci.md). Returns nothing without usable samples, or with too few rounds for an interval. A metric that is
/// judged by_processes has one value per process and needs two.
std::optional<Level> estimate_level(const Result& result, const std::string& metric,
                                    const std::optional<RunToRun>& history = std::nullopt);

/// Estimates the level of the uncounted processes, which ran in another cache domain (samples `uncounted_…`). Returns
/// nothing for fewer than three of them.
std::optional<Level> estimate_uncounted_level(const Result& result, const std::string& metric,
                                              const std::optional<RunToRun>& history = std::nullopt);

/// The difference after − before of two levels.
struct LevelChange {
  double value = 0, error = 0;  ///< error: its standard error
  double degrees = 0;

  Estimate estimate(double confidence) const;
  /// Returns the probability of this loss or a larger one if the true loss is at most `tolerance`.
  double chance_of_worse(double tolerance, Better better) const;
};
/// Uses Student's t with a common variance if the processes of both vary alike (Fisher's F, 5 % at each end), as those
/// of unchanged code usually do. A run with few processes then benefits from the many processes of a pooled baseline.
/// Otherwise uses Welch's t (Biometrika 34, 1947).
LevelChange change_between(const Level& after, const Level& before);
/// Returns the weighted mean of independent estimates of one change, with Satterthwaite's degrees of freedom
/// (Biometrics Bulletin 2, 1946). Weights must not depend on the estimates. Throws std::invalid_argument without any.
LevelChange combined(const std::vector<LevelChange>& changes, const std::vector<double>& weights);

/// Returns which hypotheses Holm's step-down test (Scand. J. Statist. 6, 1979) rejects. The probability of rejecting
/// any true one is at most `error`, whatever their dependence.
std::vector<bool> holm(const std::vector<double>& chances, double error);

}  // namespace torchstone::judge
