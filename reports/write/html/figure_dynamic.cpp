#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/statistics/interval_width.h"
#include "reports/tables/dynamic_table.h"
#include "reports/write/html/figures.h"
#include "reports/write/html/frame.h"

namespace torchstone::html {
namespace {

using namespace frame;
using tables::DynamicTiming;

bool drawable(const std::vector<DynamicTiming>& timings) {
  return timings.size() > 1 && timings.front().batch > 0 && timings.front().batch < timings.back().batch &&
         std::ranges::all_of(timings, [](const DynamicTiming& at) {
           return std::isfinite(at.batch) && std::isfinite(at.speedup) && std::isfinite(at.static_speedup());
         });
}

/// From the least to the greatest of what is drawn. An interval without an end does not widen it.
Scale scale_of(const std::vector<DynamicTiming>& timings) {
  double low = 1, high = 1;
  for (const auto& at : timings)
    for (const double value : {at.speedup, at.static_speedup(), at.speedup_low, at.speedup_high}) {
      if (!std::isfinite(value) || value <= 0) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  const double pad = high > low ? (high - low) * 0.06 : 0.05;
  return {low - pad, high + pad, floor_y - 4, 8};
}

}  // namespace

std::string dynamic_figure(const Result& result) {
  const auto timings = tables::dynamic_timings(result);
  if (!drawable(timings)) return "";
  const Scale x{timings.front().batch, timings.back().batch, frame::left + 44, frame::right - 8, true},
      y = scale_of(timings);
  auto [strokes, labels] = grid(y, [](double tick) { return fmt::format("{:.3g}x", tick); });
  Points dynamic, fixed;
  std::string intervals;
  int labelled = 0;
  for (const auto& at : timings) {
    dynamic.emplace_back(x(at.batch), y(at.speedup));
    fixed.emplace_back(x(at.batch), y(at.static_speedup()));
    if (statistics::is_bounded(at.speedup_low, at.speedup_high))
      intervals += fmt::format("M{} {}V{}", x(at.batch), y(at.speedup_low), y(at.speedup_high));
    if (labelled != 0 && x(at.batch) - labelled < 24) continue;
    labelled = x(at.batch);
    labels += svg_text(labelled - 4, floor_y + 14, fmt::format("{:.0f}", at.batch));
  }
  strokes += svg_line(frame::left + 36, y(1), frame::right, y(1), "rq") + svg_stroke("k", intervals) +
             svg_stroke("e", line_path(fixed)) + svg_stroke("k", line_path(dynamic));
  const char* what = result.dynamic == "all" ? "Speed-up by batch, at the sizes of the table" : "Speed-up by batch";
  return captioned(std::string(what) + " <i class=k>dynamic</i> <i class=e>static</i>",
                   svg_open(width, height) + svg_strokes(strokes) + labels + "</svg>");
}

}  // namespace torchstone::html
