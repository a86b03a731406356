#include "reports/write/html/trend.h"

#include <cmath>

#include <fmt/format.h>

#include "reports/write/html/figures.h"
#include "reports/write/html/markup.h"

namespace torchstone::html {

std::string trend_of(const std::vector<judge::HistoryPoint>& history, const Result& result) {
  std::vector<double> series;
  std::vector<std::string> runs;
  const std::string* machine = nullptr;  // of the newest run: levels of another one are no trend
  for (auto point = history.rbegin(); point != history.rend(); ++point) {
    if (point->name != result.name || point->device != result.device) continue;
    const auto speedup = point->metrics.find("speedup");
    if (speedup == point->metrics.end() || !std::isfinite(speedup->second)) continue;
    if (machine == nullptr) machine = &point->machine;
    if (point->machine != *machine) continue;
    series.insert(series.begin(), speedup->second);
    runs.insert(runs.begin(), point->started);
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
