#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/metric.h"

// How one number changed between two runs. Pure functions: no clock, no files, no state.

namespace torchstone::judge {

/// The change since the baseline of a case or one of its metrics, in the terms of nvbench_compare. `faster` and
/// `slower` are changes of a time, `more` and `less` of bytes and counts. `fixed` and `broken` are changes of a status,
/// or of a number that was or is NaN. `other_model`: program or weights differ, and nothing is worse.
enum class Change { same, faster, slower, ambiguous, added, gone, other_model, more, less, fixed, broken };
/// Returns SAME, FASTER, SLOWER, AMBIGUOUS, NEW, GONE, DIFFERENT MODEL, MORE, LESS, FIXED or BROKEN.
std::string_view to_string(Change change);

/// A value and the interval that holds the true one; infinite ends if nothing is known.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// Judges the logarithm of new / old. SAME: the whole interval is within the tolerance (0.02: from 1 / 1.02 to 1.02).
/// FASTER, SLOWER: the whole interval is outside. Anything else is AMBIGUOUS, so noise can only prevent a verdict.
/// `better` decides which direction is FASTER; with `neither` a change is AMBIGUOUS.
Change judge(const Estimate& log_ratio, double tolerance, Better better);

/// Judges bytes and counts, which do not vary: any difference is MORE or LESS. A number that became NaN is BROKEN.
Change judge_exactly(double before, double after);

/// Returns the factor by which a timing changed at least, if that is 1.5 or more. Processes of unchanged code never
/// differ that much. `explained`: factor that another cause may account for.
std::optional<double> certain_factor(const Estimate& log_ratio, double explained = 1);

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

}  // namespace torchstone::judge
