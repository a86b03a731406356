#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/history.h"
#include "reports/record/metric.h"

// How one number changed between two runs, and estimates of a timing from its record, with the error that another
// process would make. Pure functions.

namespace torchstone::judge {

/// The change of a case, or of one of its metrics, since the baseline, in the terms of nvbench_compare. `other_model`:
/// program or weights differ, so the records are incomparable.
enum class Change { same, faster, slower, ambiguous, added, gone, other_model };
/// Returns SAME, FASTER, SLOWER, AMBIGUOUS, NEW, GONE or DIFFERENT MODEL. For sizes and counts FASTER means better and
/// SLOWER worse.
std::string_view to_string(Change change);

/// A value and the interval that holds the true one; infinite ends if nothing is known.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// Judges the logarithm of new / old. SAME: the whole interval is within the tolerance (0.02: from 1 / 1.02 to 1.02).
/// FASTER, SLOWER: all of it is beyond. Anything else is AMBIGUOUS, so noise makes a verdict rarer, never bolder.
/// `better` decides which direction is FASTER; with `neither` a change is AMBIGUOUS.
Change judge(const Estimate& log_ratio, double tolerance, Better better);

/// Judges numbers that do not vary: any difference is a change. NaN is the worst of all values.
Change judge_exactly(double before, double after, Better better);

/// The change that all cases of a comparison share: how eager's times moved on the machine.
struct Drift {
  double centre = 0;  ///< median of the logarithms of eager's changes
  double spread = 0;  ///< of one case around the centre: 1.4826 · median deviation
  double error = 0;   ///< of the centre: 1.2533 · spread / √n, as for the median of normal values
  size_t cases = 0;

  /// Whether the drift is certain (three errors) and exceeds `tolerance`.
  bool moved(double tolerance) const;
};

/// Estimates the drift from at least three cases. Returns nothing for fewer.
std::optional<Drift> estimate_drift(const std::vector<double>& log_changes_of_eager);
/// Returns "The machine drifted: the median of eager's times of 16 cases changed by +10.2 % …".
std::string drift_words(const Drift& drift);

/// Returns the median fork_join_us (reports/statistics/processes.h) of the processes whose samples have this prefix; 0
/// if it is unknown.
double median_fork_join_us(const Result& result, const std::string& prefix = "");

/// The source of a level's error.
enum class LevelFrom { processes, runs, history, rounds, constant };

/// The logarithm of a timing, with the error that another process of the same code would make.
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

/// Deviation of the logarithm of each timing from run to run on one machine, by case and metric. It is half the mean
/// square of successive differences (von Neumann, Ann. Math. Statist. 12, 1941), so that a step in the series counts
/// once; at least 0.5 %. Its degrees of freedom are about two thirds of the differences. Series of fewer than five runs
/// are skipped.
using RunToRunOfCases = std::map<std::pair<std::string, std::string>, RunToRun>;
RunToRunOfCases run_to_run(const std::vector<HistoryPoint>& history, const std::string& machine);

/// Estimates the level of a record. Several processes (samples `process_rounds`) have the trimmed mean of their
/// medians, and the `history` bounds its deviation from below. One process has the median of its rounds, with the
/// deviation of `history`. Without a history it is 2.8 times the standard error of the rounds, at least 2 %
/// (docs/ci.md). Returns nothing without usable samples, or with too few rounds for an interval.
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
  /// Returns the chance of this change for the worse, or a larger one, if the true one is no larger than `tolerance`.
  double chance_of_worse(double tolerance, Better better) const;
};
/// Uses Student's t with a common variance if the processes of both vary alike (Fisher's F, 5 % at each end).
/// Those of unchanged code usually do. Then the many processes of several runs also bound the variance of a run with
/// few. Otherwise uses Welch's t (Biometrika 34, 1947).
LevelChange change_between(const Level& after, const Level& before);
/// Returns the weighted mean of independent estimates of one change, with Satterthwaite's degrees of freedom
/// (Biometrics Bulletin 2, 1946). Weights must not depend on the estimates. Throws std::invalid_argument without any.
LevelChange combined(const std::vector<LevelChange>& changes, const std::vector<double>& weights);

/// Returns which hypotheses Holm's step-down test (Scand. J. Statist. 6, 1979) rejects. The chance to reject any true
/// one is `error`, whatever their dependence.
std::vector<bool> holm(const std::vector<double>& chances, double error);

}  // namespace torchstone::judge
