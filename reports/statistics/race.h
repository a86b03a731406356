#pragma once
#include <vector>

#include "reports/statistics/best.h"

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
