#pragma once
#include <string>
#include <vector>

#include "reports/judge/history.h"

namespace torchstone::judge {

/// The values of one metric of one case on one kind of machine, oldest first.
struct Series {
  std::string name, device, machine;
  std::vector<const HistoryPoint*> points;  ///< those that have the metric
  std::vector<double> values;               ///< one for each point; NaN of a timing that was noisy
};
/// In the order of first appearance. `points` must outlive what is returned.
std::vector<Series> series_of(const std::vector<HistoryPoint>& points, const std::string& metric);

/// One of eight block characters for each of the last `width` values, from the smallest to the largest of them; "·" for
/// one that is not finite.
std::string sparkline(const std::vector<double>& values, size_t width);

/// A line for each case: name, runs, sparkline, last value, newest step with the run that brought it; those with a step
/// first. Noisy timings are no part of a series (NaN), and a last value that is noisy is counted below. No line is
/// longer than `width` columns when that is 60 or more.
std::string history_table(const std::vector<HistoryPoint>& points, const std::string& metric, size_t width);

}  // namespace torchstone::judge
