#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/write/html/figures.h"
#include "reports/write/html/frame.h"

namespace torchstone::html {

using namespace frame;

std::string loss_figure(const Result& result, size_t max_points) {
  const auto& samples = result.outcome.samples;
  const auto eager = samples.find("eager_loss"), compiled = samples.find("compiled_loss");
  if (eager == samples.end() || compiled == samples.end()) return "";
  const size_t steps = std::max(eager->second.size(), compiled->second.size());
  std::vector<double> both = eager->second;
  both.insert(both.end(), compiled->second.begin(), compiled->second.end());
  const double low = quantile(both, 0), high = quantile(both, 1);
  if (steps < 3 || !std::isfinite(low)) return "";
  const double pad = high > low ? (high - low) * 0.04 : std::abs(low) * 0.05 + 1e-12;
  const Scale y{low - pad, high + pad, floor_y - 4, 8};
  auto [strokes, labels] = grid(y, [](double tick) { return fmt::format("{:.4g}", tick); });
  const auto line = [&](const std::vector<double>& losses) {
    return line_path(points_of(thinned(losses, max_points), y));
  };
  strokes += fmt::format("<path class=k stroke-width=5 stroke-opacity=.4 d=\"{}\"/>", line(compiled->second));
  strokes += svg_stroke("e", line(eager->second));
  return captioned(
      "Loss, step by step <i class=e>eager</i> <i class=k>compiled</i>",
      svg_open(width, height) + svg_strokes(strokes) + labels + count_label(steps, "steps", max_points) + "</svg>");
}

}  // namespace torchstone::html
