#pragma once
#include <cstddef>
#include <vector>

#include "reports/statistics/statistics.h"

// Comparisons of several treatments that were measured in the same processes: which may be the best, and how far each
// is from it. `values[i][p]` is the value of treatment i in process p; less is better. An eliminated treatment has
// values of the first processes only. Two treatments are compared over the processes that both have.
//
// Every comparison of two treatments is a paired t-test: Student's t of their differences within the processes. It
// assumes nothing about the variances or the correlation of two treatments. By Bonferroni's inequality all comparisons
// hold simultaneously, whatever their dependence. With a single process, every treatment may be the best.

namespace torchstone::statistics {

/// A treatment against the best of the others.
struct VersusBest {
  double low = 0, high = 0;  ///< interval of its value minus the smallest value of the others
  double behind = 0;         ///< largest lower bound of its difference to another; above 0: certainly not the best
};

/// Makes multiple comparisons with the best (Edwards & Hsu, JASA 78, 1983; Hsu, Annals of Statistics 12, 1984:
/// constrained intervals). With this confidence, all intervals hold and the best has a `behind` of at most 0. Only the
/// k − 1 one-sided comparisons with the true best have to hold, so these share the error.
/// Throws std::invalid_argument unless there are treatments, each with at least one process.
std::vector<VersusBest> compare_with_best(const std::vector<std::vector<double>>& values, double confidence);

/// Returns simultaneous two-sided intervals of each treatment's value minus the control's. k − 1 comparisons share
/// the error (Dunn, JASA 56, 1961). The control's own interval is 0. With one process, intervals are infinite. Throws
/// like compare_with_best().
std::vector<Interval> compare_with_control(const std::vector<std::vector<double>>& values, size_t control,
                                           double confidence);

// A race: repeated analyses ("looks") eliminate treatments that are certainly not the best, so that further processes
// run only the others. Sources: Maron & Moore, NIPS 6, 1993; sequential selection of Kim & Nelson, ACM TOMACS 11, 2001,
// with Bonferroni's inequality over the looks.

/// Returns the confidence that each of `looks` looks needs so that all hold simultaneously with `confidence`. They
/// share the error equally. Throws std::invalid_argument for less than one look.
double confidence_of_look(double confidence, int looks);

/// Returns natural logarithms: their differences are ratios of the values.
std::vector<double> logarithms(const std::vector<double>& values);

/// The result of a look.
struct RaceLook {
  std::vector<VersusBest> versus_best;  ///< by treatment
  std::vector<bool> may_be_best;        ///< by treatment: whether it is not certainly behind by more than the margin
  bool settled = false;  ///< one treatment remains, or the remaining ones certainly differ by no more than the margin
};

/// Analyses `values` (as in compare_with_best()) at the `confidence` of this look. `margin` is in the unit of `values`.
RaceLook look_at_race(const std::vector<std::vector<double>>& values, double confidence, double margin);

}  // namespace torchstone::statistics
