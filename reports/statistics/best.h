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
