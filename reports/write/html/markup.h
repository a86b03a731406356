#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchstone::html {

/// Escapes text for content and for double-quoted attributes. Every text of the page passes through it.
std::string escaped(std::string_view text);
/// The same for at most `limit` characters of the text; the middle is cut out, with a count of what is missing.
std::string escaped_cut(std::string_view text, size_t limit);
/// "1 case", "3 cases".
std::string counted(size_t count, std::string_view noun);
/// "48 s", "5 min 12 s", "2 h 03 min".
std::string duration_text(double seconds);

/// The mismatch report of a comparison as markup. Lines whose columns are two or more spaces apart become tables, other
/// lines text. At most `limit` bytes of the report are shown.
std::string mismatch_tables(const std::string& report, size_t limit);

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

/// The frame that figures of series share: labels at the left, one line of text below.

namespace torchstone::html::frame {

inline constexpr int width = 320, height = 128, left = 4, right = 316, floor_y = 108;

/// Lines across at round values of the scale, and their labels.
struct Grid {
  std::string strokes, labels;
};
Grid grid(const Scale& y, const std::function<std::string(double)>& label);

/// Where the value of this index stands in a series of `count`.
int x_of(size_t index, size_t count);
/// The finite values of a series from left to right.
Points points_of(const std::vector<double>& values, const Scale& y);

/// "31 rounds, medians of 2 →" below the frame, for a series drawn by at most `max_points`.
std::string count_label(size_t count, std::string_view what, size_t max_points);

/// A figure under its caption (markup); empty when there is no figure.
std::string captioned(std::string_view caption, const std::string& figure);

}  // namespace torchstone::html::frame
