#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/record/report_json.h"

namespace torchstone::judge {

/// One case in one run, one line of a history file: what a trend needs and no more.
struct HistoryPoint {
  std::string run, started, name, device, machine, status;
  std::map<std::string, double> metrics;  ///< speedup with bounds, medians, compile_s, memory, artifact size
  bool noisy = false;                     ///< its speed-up says too little (reports/record/doubts.h)
};

/// A level shift in a series.
struct ChangePoint {
  size_t index = 0;              ///< the first point of the new level
  double before = 0, after = 0;  ///< medians of the two levels
};

struct ChangePointOptions {
  double significance = 0.01;  ///< chance that a series without a shift is said to have one
  double smallest = 0.02;      ///< a shift below this part of the old level is none, however sure it is
};

/// What timings depend on, and not which of several equal machines it was.
std::string machine_of(const RunInfo& run);
/// The points of one report, in its order.
std::vector<HistoryPoint> history_points(const Report& report);
/// The metrics that a history keeps, and what else stands in these points.
std::set<std::string> metrics_of(const std::vector<HistoryPoint>& points);

/// A JSON-lines file, in its order, one object a line: run, started, name, device, machine, status, metrics, and
/// "noisy": true of speed-ups that say too little. Empty lines and unknown members are passed over. A last line that
/// was cut off in writing is left out and added to `warnings`. Throws ReportError with file and line.
std::vector<HistoryPoint> read_history(const std::filesystem::path& file, std::vector<std::string>* warnings = nullptr);
/// The same from a text; `file` is only for the messages.
std::vector<HistoryPoint> parse_history(const std::string& text, const std::string& file,
                                        std::vector<std::string>* warnings = nullptr);
/// The reverse.
std::string write_history(const std::vector<HistoryPoint>& points);

/// Both, oldest run first; a point that is already there (run and name) is not added again.
std::vector<HistoryPoint> unite_histories(std::vector<HistoryPoint> points, const std::vector<HistoryPoint>& further);

/// The most significant level shift, or nothing when the series is only noisy. Distribution-free: each split is judged
/// by the two-sided Mann-Whitney test (Mann and Whitney, Ann. Math. Statist. 18, 1947), the many splits by Tarone's
/// correction for discrete tests (Biometrics 46, 1990). For independent noise of whatever form, `significance` is the
/// upper limit of the rate of false alarms. It takes eleven points at least. Among the significant splits the one of
/// least absolute deviation from two medians is the change point. Points that are not finite are passed over.
std::optional<ChangePoint> find_change_point(const std::vector<double>& series, const ChangePointOptions& options = {});
/// The newest of the change points among the last 1000 points: find_change_point, repeated on the points that follow
/// the one found.
std::optional<ChangePoint> newest_change_point(const std::vector<double>& series,
                                               const ChangePointOptions& options = {});

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
