#pragma once
#include <cstddef>
#include <vector>

#include "reports/statistics/statistics.h"

// Several treatments that were all measured in each of some processes: which of them may be the best, and how far each
// is from one of them. `values[i][p]` is that of treatment i in process p; less is better. One that left after some
// processes has the values of these, the first ones, and two are compared in the processes that both have.
//
// Every comparison of two treatments is Student's t of their differences within the processes, so that nothing is
// assumed of the variances: what a process does to one treatment may be what it does to another, or not. Bonferroni's
// inequality makes the comparisons hold together, whatever their dependence. Two processes are the fewest; with one,
// everything may be the best.

namespace torchstone::statistics {

/// A treatment beside the best of the others.
struct BesideBest {
  double low = 0, high = 0;  ///< interval of its value less the least of the others'
  /// The largest lower bound of its difference to another one: above 0 it is surely not the best.
  double behind = 0;
};

/// Multiple comparisons with the best (Edwards & Hsu, JASA 78, 1983; Hsu, Annals of Statistics 12, 1984: constrained
/// intervals). With the confidence the intervals hold together, and the best is among those whose `behind` is at most
/// 0. Only the comparisons with the true best have to hold, each on one side: k − 1 of them share the error.
/// Throws std::invalid_argument unless there are treatments, each with a process at least.
std::vector<BesideBest> compare_with_best(const std::vector<std::vector<double>>& values, double confidence);

/// Simultaneous two-sided intervals of each treatment's value less that of `control`: k − 1 comparisons share the error
/// (Dunn, JASA 56, 1961). That of the control itself is 0. Infinite with one process. Throws as above.
std::vector<Interval> compare_with_control(const std::vector<std::vector<double>>& values, size_t control,
                                           double confidence);

}  // namespace torchstone::statistics

// Which of several treatments is the best, looked at more than once: what is surely not the best leaves, so that
// further processes are spent on those in doubt (a race: Maron & Moore, NIPS 6, 1993; the sequential selection of Kim &
// Nelson, ACM TOMACS 11, 2001, with Bonferroni's inequality over the looks).

namespace torchstone::statistics {

/// With which each of `looks` looks has to hold, so that all of them hold together with `confidence`: 1 less the part
/// that each has of the error. Throws std::invalid_argument for less than one look.
double confidence_of_look(double confidence, int looks);

/// The natural logarithms: differences of them are ratios of the values.
std::vector<double> logarithms(const std::vector<double>& values);

/// After a look.
struct RaceLook {
  std::vector<BesideBest> beside_best;  ///< by treatment, compare_with_best()
  std::vector<bool> may_be_best;        ///< by treatment: not surely behind another one by more than the margin
  bool settled = false;  ///< one is left, or those that are left surely differ by no more than the margin
};

/// `values` as compare_with_best() takes them, in which those that left before have the first processes only;
/// `confidence` of this look, `margin` in the unit of the values.
RaceLook look_at_race(const std::vector<std::vector<double>>& values, double confidence, double margin);

}  // namespace torchstone::statistics
