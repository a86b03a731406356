#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchstone::html {

/// Maps values to whole pixels; a value outside the range is put on its edge.
struct Scale {
  double low, high;
  int from, to;
  bool logarithmic = false;
  int operator()(double value) const;
};

using Points = std::vector<std::pair<int, int>>;

/// The d of a line through the points, relative, as short as SVG allows.
std::string line_path(const Points& points);
/// The same as dots, for a stroke with round caps.
std::string dots_path(const Points& points);

/// The quantile (reports/statistics/statistics.h) of the finite values; NaN when there is none.
double quantile(std::span<const double> values, double q);
/// At most `limit` values: medians of equally many neighbours.
std::vector<double> thinned(const std::vector<double>& values, size_t limit);
/// Two to four round numbers within [low, high]; none when the range is empty or not finite.
std::vector<double> round_ticks(double low, double high);
/// A time in the unit that suits it: "12.3 µs", "4.56 ms", "1.2 s".
std::string time_text(double seconds);

/// `<svg …>` of this size. Classes style its parts, which stay legible without a style sheet. Several classes are given
/// with their quotes.
std::string svg_open(int width, int height, std::string_view css_class = "f");
std::string svg_text(int x, int y, std::string_view text, std::string_view css_class = "");
/// A group of strokes; `paths` are made by the two below.
std::string svg_strokes(const std::string& paths);
std::string svg_stroke(std::string_view css_class, std::string_view d);
std::string svg_line(int x1, int y1, int x2, int y2, std::string_view css_class);

}  // namespace torchstone::html
