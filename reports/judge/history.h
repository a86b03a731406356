#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone::judge {

/// One case in one run: one line of a history file, with the metrics that trends need.
struct HistoryPoint {
  std::string run, started, name, device, machine, status;
  std::map<std::string, double> metrics;  ///< speedup with bounds, medians, compile_s, memory, artifact size
  bool noisy = false;                     ///< its speed-up proves too little (reports/record/doubts.h)
};

/// A level shift in a series.
struct ChangePoint {
  size_t index = 0;              ///< the first point of the new level
  double before = 0, after = 0;  ///< medians of the two levels
};

/// Returns the points of one report, in its order.
std::vector<HistoryPoint> history_points(const Report& report);
/// Returns the metrics that every history keeps, and all further metrics that these points have.
std::set<std::string> known_metrics(const std::vector<HistoryPoint>& points);

/// Reads a JSON-lines file, one object a line: run, started, name, device, machine, status, metrics, and "noisy": true
/// of noisy speed-ups. Ignores empty lines and unknown members. A last line that is cut off is skipped and reported in
/// `warnings`. Throws ReportError with file and line.
std::vector<HistoryPoint> read_history(const std::filesystem::path& file, std::vector<std::string>* warnings = nullptr);
/// Parses text as read_history() does. `file` is only for the messages.
std::vector<HistoryPoint> parse_history(const std::string& text, const std::string& file,
                                        std::vector<std::string>* warnings = nullptr);
std::string write_history(const std::vector<HistoryPoint>& points);

/// Joins two histories, oldest run first. A point with the run and name of an earlier one is dropped.
std::vector<HistoryPoint> unite_histories(std::vector<HistoryPoint> points, const std::vector<HistoryPoint>& further);

/// Returns the most significant level shift; nothing if the series is only noisy. Each split is judged by the two-sided
/// test of Mann and Whitney (Ann. Math. Statist. 18, 1947). Tarone's correction for multiple tests (Biometrics 46,
/// 1990) limits false alarms to 1 % for independent noise. A shift needs at least eleven points. Ignores points that
/// are not finite, and shifts below `smallest`, relative to the old level.
std::optional<ChangePoint> find_change_point(const std::vector<double>& series, double smallest = 0.02);
/// Returns the newest change point among the last 1000 points. Repeats find_change_point() on the points after each
/// find.
std::optional<ChangePoint> newest_change_point(const std::vector<double>& series);

/// The values of one metric of one case on one kind of machine, oldest first.
struct Series {
  std::string name, device, machine;
  std::vector<const HistoryPoint*> points;  ///< points that have the metric
  std::vector<double> values;               ///< one for each point; NaN of a noisy timing
};
/// Returns the series in the order of first appearance. `points` must outlive them.
std::vector<Series> case_series(const std::vector<HistoryPoint>& points, const std::string& metric);

/// Returns one of eight block characters for each of the last `width` values, scaled between the smallest and the
/// largest of them; "·" for a value that is not finite.
std::string sparkline(const std::vector<double>& values, size_t width);

/// Returns a line for each case: name, runs, sparkline, last value, newest step with its run. Cases with a step come
/// first. The last line counts cases whose last value is noisy. No line is longer than `width` columns if `width` is 60
/// or more.
std::string history_table(const std::vector<HistoryPoint>& points, const std::string& metric, size_t width);

}  // namespace torchstone::judge
