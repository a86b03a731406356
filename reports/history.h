#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/json.h"

namespace torchstone {

/// One case in one run, one line of a history file: what a trend needs and no more.
struct HistoryPoint {
  std::string run, started, name, device, machine, status;
  std::map<std::string, double> metrics;  ///< speedup with bounds, medians, compile_s, memory, artifact size
};

/// A level shift in a series.
struct Step {
  size_t index = 0;              ///< the first point of the new level
  double before = 0, after = 0;  ///< medians of the two levels
};

/// The points of one report, in its order.
std::vector<HistoryPoint> history_points(const Report& report);
/// A JSON-lines file, oldest first. Throws ReportError with file and line.
std::vector<HistoryPoint> read_history(const std::filesystem::path& file);
/// The most significant level shift, or nothing when the series is only noisy.
std::optional<Step> find_step(const std::vector<double>& series);

}  // namespace torchstone
