#include "reports/write/html/trend.h"

#include <cmath>

#include <fmt/format.h>

#include "reports/write/html/figures.h"
#include "reports/write/html/markup.h"

namespace torchstone::html {

HistoryByCase history_by_case(const std::vector<judge::HistoryPoint>& history) {
  HistoryByCase cases;
  for (const auto& point : history) cases[{point.name, point.device}].push_back(&point);
  return cases;
}

std::string trend_of(const HistoryByCase& history, const Result& result) {
  const auto of_case = history.find({result.name, result.device});
  if (of_case == history.end()) return "";
  const auto speedup_of = [](const judge::HistoryPoint& point) {
    const auto speedup = point.metrics.find("speedup");
    return speedup == point.metrics.end() || point.noisy ? NAN : speedup->second;
  };
  std::vector<double> series;
  std::vector<std::string> runs;
  const std::string* machine = nullptr;  // of the newest run: levels of another one are no trend
  for (const judge::HistoryPoint* point : of_case->second)
    if (std::isfinite(speedup_of(*point))) machine = &point->machine;
  for (const judge::HistoryPoint* point : of_case->second) {
    if (!std::isfinite(speedup_of(*point)) || point->machine != *machine) continue;
    series.push_back(speedup_of(*point));
    runs.push_back(point->started);
  }
  if (series.size() < 2) return "";
  const auto step = judge::newest_change_point(series);
  if (!step) return sparkline(series, step);
  const double percent = (step->after / step->before - 1) * 100;
  return fmt::format("{} <small title=\"{:.3f}× before, {:.3f}× since the run of {}\">{} {:+.0f} %</small>",
                     sparkline(series, step), step->before, step->after, escaped_cut(runs[step->index], 60),
                     percent < 0 ? "▼" : "▲", percent);
}

}  // namespace torchstone::html
