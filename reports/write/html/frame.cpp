#include "reports/write/html/frame.h"

#include <cmath>

#include <fmt/format.h>

namespace torchstone::html::frame {

Grid grid(const Scale& y, const std::function<std::string(double)>& label) {
  Grid grid;
  std::string lines;
  for (const double tick : round_ticks(y.low, y.high)) {
    lines += fmt::format("M{} {}H{}", left + 36, y(tick), right);
    grid.labels += svg_text(left, y(tick) + 3, label(tick));
  }
  grid.strokes = svg_stroke("gr", lines);
  return grid;
}

int x_of(size_t index, size_t count) {
  const double part = count > 1 ? static_cast<double>(index) / static_cast<double>(count - 1) : 0.5;
  return left + 38 + static_cast<int>(std::lround(part * (right - left - 40)));
}

Points points_of(const std::vector<double>& values, const Scale& y) {
  Points points;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) points.emplace_back(x_of(i, values.size()), y(values[i]));
  }
  return points;
}

std::string count_label(size_t count, std::string_view what, size_t max_points) {
  std::string text = fmt::format("{} {}", count, what);
  if (count > max_points) text += fmt::format(", medians of {}", (count + max_points - 1) / max_points);
  return svg_text(left + 36, floor_y + 14, text + " →");
}

std::string captioned(std::string_view caption, const std::string& figure) {
  return figure.empty() ? "" : fmt::format("<figure><figcaption>{}</figcaption>{}</figure>", caption, figure);
}

}  // namespace torchstone::html::frame
