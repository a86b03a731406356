#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reports/html/figures.h"
#include "reports/html/markup.h"
#include "reports/html/plot.h"
#include "reports/metric.h"

namespace torchstone::html {
namespace {

constexpr int width = 320, height = 128, left = 4, right = 316, floor_y = 108, bins = 52;

struct Side {
  std::string_view name, css_class;
  const std::vector<double>& seconds;
};

/// Outliers would squeeze everything else into a corner: the axis ends at the 97th percentile, if it is near the rest.
std::pair<double, double> common_range(const Side& a, const Side& b) {
  double low = std::min(quantile(a.seconds, 0), quantile(b.seconds, 0));
  double high = std::max(quantile(a.seconds, 0.97), quantile(b.seconds, 0.97));
  const double pad = high > low ? (high - low) * 0.04 : std::abs(low) * 0.05 + 1e-12;
  return {low - pad, high + pad};
}

std::string axis(const Scale& x) {
  std::string out = svg_line(left, floor_y, right, floor_y, "ax");
  for (const double tick : round_ticks(x.low, x.high)) {
    out += svg_line(x(tick), floor_y, x(tick), floor_y + 3, "ax");
    out += svg_text(x(tick), floor_y + 14, time_text(tick), "text-anchor=middle");
  }
  return out;
}

std::string histogram(const Side& side, const Scale& x, int base) {
  std::array<int, bins> counts{};
  size_t beyond = 0;
  const double step = (x.high - x.low) / bins;
  for (const double value : side.seconds) {
    if (!std::isfinite(value)) continue;
    if (value > x.high)
      ++beyond;
    else
      ++counts[std::clamp(static_cast<int>((value - x.low) / step), 0, bins - 1)];
  }
  const int most = std::max(1, *std::ranges::max_element(counts));
  std::string path = fmt::format("M{} {}", left, base);
  int drawn = 0;
  for (int i = 0; i < bins; ++i) {
    if (counts[i] == drawn) continue;
    path += fmt::format("H{}V{}", left + i * (right - left) / bins, base - counts[i] * 30 / most);
    drawn = counts[i];
  }
  path += fmt::format("H{}V{}z", right, base);
  const double middle = quantile(side.seconds, 0.5);
  std::string out = fmt::format("<path class={} fill-opacity=.35 d=\"{}\"/>", side.css_class, path);
  out += svg_line(x(middle), base - 34, x(middle), base, side.css_class);
  const bool at_right = x(middle) > (left + right) / 2;
  out += svg_text(x(middle) + (at_right ? -4 : 4), base - 27, fmt::format("{} {}", side.name, time_text(middle)),
                  at_right ? "text-anchor=end" : "");
  if (beyond > 0) out += svg_text(right, base - 4, fmt::format("{} beyond ›", beyond), "text-anchor=end class=mu");
  return out;
}

std::string distributions(const Side& eager, const Side& compiled) {
  const auto [low, high] = common_range(eager, compiled);
  const Scale x{low, high, left, right};
  return svg_open(width, height,
                  fmt::format("Distributions of the time per call: eager median {}, compiled median {}",
                              time_text(quantile(eager.seconds, 0.5)), time_text(quantile(compiled.seconds, 0.5)))) +
         histogram(eager, x, 50) + histogram(compiled, x, 100) + axis(x) + "</svg>";
}

std::string y_label(const Scale& y, double value, const std::string& text) {
  return svg_line(left + 36, y(value), right, y(value), "gr") + svg_text(left, y(value) + 3, text, "class=mu");
}

Points points_of(const std::vector<double>& values, const Scale& y) {
  Points points;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const double part = values.size() > 1 ? static_cast<double>(i) / static_cast<double>(values.size() - 1) : 0.5;
    points.emplace_back(left + 38 + static_cast<int>(std::lround(part * (right - left - 40))), y(values[i]));
  }
  return points;
}

std::string coarse(size_t rounds, size_t max_points) {
  if (rounds <= max_points) return "";
  return fmt::format(", medians of {}", (rounds + max_points - 1) / max_points);
}

std::string run_order(const Side& eager, const Side& compiled, size_t max_points) {
  const auto [low, high] = common_range(eager, compiled);
  const Scale y{low, high, floor_y - 4, 8};
  std::string out = svg_open(width, height, "Time per call of both sides in the order of the rounds");
  for (const double tick : round_ticks(low, high)) out += y_label(y, tick, time_text(tick));
  for (const Side* side : {&eager, &compiled}) {
    out += fmt::format("<path class=\"ln {}\" fill=none stroke=gray d=\"{}\"/>", side->css_class,
                       line_path(points_of(thinned(side->seconds, max_points), y)));
  }
  const auto rounds = std::max(eager.seconds.size(), compiled.seconds.size());
  return out +
         svg_text(right, floor_y + 14, fmt::format("{} rounds{} →", rounds, coarse(rounds, max_points)),
                  "text-anchor=end class=mu") +
         "</svg>";
}

std::string band(const Scale& y, double low, double high) {
  const int top = y(high), bottom = y(low);
  return fmt::format("<rect class=bd fill-opacity=.2 x={} y={} width={} height={} />", left + 36, top,
                     right - left - 36, std::max(1, bottom - top));
}

std::string ratios(const Result& result, const Side& eager, const Side& compiled, size_t max_points) {
  std::vector<double> ratio;
  for (size_t i = 0; i < std::min(eager.seconds.size(), compiled.seconds.size()); ++i)
    ratio.push_back(eager.seconds[i] / compiled.seconds[i]);
  const auto required = metric_of(result, "required_speedup");
  const auto speedup = metric_of(result, "speedup"), of_low = metric_of(result, "speedup_low"),
             of_high = metric_of(result, "speedup_high");
  double low = std::min(quantile(ratio, 0.02), 1.0), high = std::max(quantile(ratio, 0.98), 1.0);
  if (required) low = std::min(low, *required), high = std::max(high, *required);
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  const double pad = std::max(0.02, (high - low) * 0.08);
  const Scale y{low - pad, high + pad, floor_y - 4, 8};
  std::string label = "Ratio of each round";
  if (speedup) label += ", median " + format_metric("speedup", *speedup);
  if (required) label += ", required " + format_metric("required_speedup", *required);
  std::string out = svg_open(width, height, label);
  if (of_low && of_high) out += band(y, *of_low, *of_high);
  const auto ticks = round_ticks(y.low, y.high);
  for (const double tick : ticks) out += y_label(y, tick, fmt::format("{:.4g}×", tick));
  if (!required || *required != 1) out += svg_line(left + 36, y(1), right, y(1), "ax");
  if (speedup && std::isfinite(*speedup)) out += svg_line(left + 36, y(*speedup), right, y(*speedup), "k");
  if (required) {
    out += svg_line(left + 36, y(*required), right, y(*required), "rq");
    out += svg_text(right, y(*required) - 3, fmt::format("required {:.4g}×", *required), "text-anchor=end class=rt");
  }
  out += fmt::format("<path class=dt stroke=gray stroke-linecap=round stroke-width=2 d=\"{}\"/>",
                     dots_path(points_of(thinned(ratio, max_points), y)));
  std::string caption = fmt::format("{} rounds{} →", ratio.size(), coarse(ratio.size(), max_points));
  return out + svg_text(right, floor_y + 14, caption, "text-anchor=end class=mu") + "</svg>";
}

bool usable(const std::vector<double>& seconds) { return std::isfinite(quantile(seconds, 0.5)); }

std::string captioned(std::string_view caption, const std::string& figure) {
  return figure.empty() ? "" : fmt::format("<figure><figcaption>{}</figcaption>{}</figure>", caption, figure);
}

}  // namespace

std::string timing_figures(const Result& result, size_t max_points) {
  const auto& samples = result.outcome.samples;
  const auto eager_s = samples.find("eager_s"), compiled_s = samples.find("compiled_s");
  if (eager_s == samples.end() || compiled_s == samples.end()) return "";
  if (!usable(eager_s->second) || !usable(compiled_s->second)) return "";
  const Side eager{"eager", "e", eager_s->second}, compiled{"compiled", "k", compiled_s->second};
  return captioned("Time per call", distributions(eager, compiled)) +
         captioned("In run order <i class=e>eager</i> <i class=k>compiled</i>",
                   run_order(eager, compiled, max_points)) +
         captioned("Eager ÷ compiled, each round", ratios(result, eager, compiled, max_points));
}

}  // namespace torchstone::html
