#include "reports/write/html/plot.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "reports/statistics/statistics.h"
#include "reports/write/html/markup.h"

namespace torchstone::html {
namespace {

/// "2-3": a minus separates as well as a space.
void append(std::string& out, int dx, int dy) { out += fmt::format("{}{}{}", dx, dy < 0 ? "" : " ", dy); }

}  // namespace

int Scale::operator()(double value) const {
  const auto place = [&](double v) { return logarithmic ? std::log(v) : v; };
  if (!(value > low)) return from;
  if (value >= high) return to;
  const double part = (place(value) - place(low)) / (place(high) - place(low));
  return from + static_cast<int>(std::lround(part * (to - from)));
}

std::string line_path(const Points& points) {
  if (points.empty()) return "";
  std::string out = "M";
  append(out, points[0].first, points[0].second);
  for (size_t i = 1; i < points.size(); ++i) {
    const int dx = points[i].first - points[i - 1].first, dy = points[i].second - points[i - 1].second;
    out += i == 1 ? "l" : dx < 0 ? "" : " ";
    append(out, dx, dy);
  }
  return out;
}

std::string dots_path(const Points& points) {
  std::string out;
  for (size_t i = 0; i < points.size(); ++i) {
    out += i == 0 ? "M" : "m";
    append(out, points[i].first - (i == 0 ? 0 : points[i - 1].first),
           points[i].second - (i == 0 ? 0 : points[i - 1].second));
    out += "h0";
  }
  return out;
}

double quantile(std::span<const double> values, double q) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  return finite.empty() ? std::numeric_limits<double>::quiet_NaN() : statistics::quantile(std::move(finite), q);
}

std::vector<double> thinned(const std::vector<double>& values, size_t limit) {
  if (values.size() <= limit || limit == 0) return values;
  const size_t group = (values.size() + limit - 1) / limit;
  std::vector<double> out;
  for (size_t i = 0; i < values.size(); i += group) {
    out.push_back(quantile(std::span(values).subspan(i, std::min(group, values.size() - i)), 0.5));
  }
  return out;
}

std::vector<double> round_ticks(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low)) return {};
  const double power = std::pow(10, std::floor(std::log10(high - low)) - 1);
  for (const double step : {50.0, 20.0, 10.0, 5.0, 2.0, 1.0}) {
    const double first = std::ceil(low / (step * power)), last = std::floor(high / (step * power));
    if (last - first < 1) continue;
    std::vector<double> ticks;
    for (double i = first; i <= last; ++i) ticks.push_back(i * step * power + 0.0);  // no -0
    return ticks;
  }
  return {};
}

std::string time_text(double seconds) {
  const double size = std::abs(seconds);
  if (size < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (size < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

std::string svg_open(int width, int height, std::string_view css_class) {
  return fmt::format("<svg class={0} viewBox=\"0 0 {1} {2}\" width={1} font-size=10>", css_class, width, height);
}

std::string svg_text(int x, int y, std::string_view text, std::string_view css_class) {
  return fmt::format("<text x={} y={}{}{}>{}</text>", x, y, css_class.empty() ? "" : " class=", css_class,
                     escaped(text));
}

std::string svg_strokes(const std::string& paths) { return "<g fill=none stroke=gray>" + paths + "</g>"; }

std::string svg_stroke(std::string_view css_class, std::string_view d) {
  return fmt::format("<path class={} d=\"{}\"/>", css_class, d);
}

std::string svg_line(int x1, int y1, int x2, int y2, std::string_view css_class) {
  const std::string end = y1 == y2   ? fmt::format("H{}", x2)
                          : x1 == x2 ? fmt::format("V{}", y2)
                                     : fmt::format("L{} {}", x2, y2);
  return svg_stroke(css_class, fmt::format("M{} {}{}", x1, y1, end));
}

}  // namespace torchstone::html
