#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/metric.h"

// How one number changed between two runs. Pure functions: no clock, no files, no state.

namespace torchstone::judge {

/// What became of a case, or of one of its metrics, since the baseline (the words of nvbench_compare). `other_model`:
/// program or weights differ, so the two records say nothing about each other.
enum class Change { same, faster, slower, ambiguous, added, gone, other_model };
/// SAME, FASTER, SLOWER, AMBIGUOUS, NEW, GONE, DIFFERENT MODEL. For sizes and counts FASTER means better and SLOWER
/// worse.
std::string_view to_string(Change change);

/// A value and the interval that holds the true one; infinite ends where nothing is known.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// Judges the logarithm of new / old. SAME: the whole interval lies within the tolerance (0.02: from 1 / 1.02 to 1.02).
/// FASTER, SLOWER: all of it lies beyond. Anything else is AMBIGUOUS. So noise makes a verdict rarer, never bolder.
/// `better` says which direction is FASTER; of `neither` a change is AMBIGUOUS.
Change judge(const Estimate& log_ratio, double tolerance, Better better);

/// Judges numbers that do not vary: any difference is a change. NaN is the worst of all values.
Change judge_exactly(double before, double after, Better better);

/// What all cases of a comparison have in common: how eager's times moved on the machine.
struct Drift {
  double centre = 0;  ///< median of the logarithms of eager's changes
  double spread = 0;  ///< of one case about it: 1.4826 · median deviation
  double error = 0;   ///< of the centre: 1.2533 · spread / √n, as for the median of normal values
  size_t cases = 0;

  /// Whether it is certain (three errors), and more than `tolerance`.
  bool moved(double tolerance) const;
};

/// Of at least three cases; fewer say nothing about the machine.
std::optional<Drift> drift_of(const std::vector<double>& log_changes_of_eager);
/// "The machine moved: eager's times of 16 cases changed by +10.2 % in the middle …"
std::string drift_words(const Drift& drift);

}  // namespace torchstone::judge
