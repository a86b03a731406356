#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchstone::html {

/// Escapes text for content and for double-quoted attributes. Every text of the page passes through this function.
std::string escaped(std::string_view text);
/// Escapes at most `limit` bytes of the text. A count replaces the middle of a longer text.
std::string escaped_cut(std::string_view text, size_t limit);
/// "48 s", "5 min 12 s", "2 h 03 min".
std::string duration_text(double seconds);

/// Returns the mismatch report of a comparison as markup, of at most `limit` bytes. Lines with columns that two or more
/// spaces separate become tables, other lines text.
std::string mismatch_tables(const std::string& report, size_t limit);

/// A map from values to whole pixels. A value outside the range is drawn on its edge.
struct Scale {
  double low, high;
  int from, to;
  bool logarithmic = false;
  int operator()(double value) const;
};

using Points = std::vector<std::pair<int, int>>;

/// Returns the path data (attribute `d`) of a line through the points. Relative coordinates keep it short.
std::string line_path(const Points& points);
/// Returns the path data of dots, to be drawn by a stroke with round caps.
std::string dots_path(const Points& points);

/// Returns the quantile (reports/statistics/statistics.h) of the finite values; NaN without any.
double quantile(std::span<const double> values, double q);
/// Returns at most `limit` values. Each is the median of a group of neighbours; groups have equal size.
std::vector<double> thinned(const std::vector<double>& values, size_t limit);
/// Returns two to four round numbers within [low, high]; none when the range is empty or not finite.
std::vector<double> round_ticks(double low, double high);
/// Returns a time in a unit that fits: "12.3 µs", "4.56 ms", "1.2 s".
std::string time_text(double seconds);

/// Returns `<svg …>` of this size. It is legible without a style sheet. Several classes need quotes: "\"r t\"".
std::string svg_open(int width, int height, std::string_view css_class = "f");
std::string svg_text(int x, int y, std::string_view text, std::string_view css_class = "");
/// Groups strokes; the two functions below make `paths`.
std::string svg_strokes(const std::string& paths);
std::string svg_stroke(std::string_view css_class, std::string_view d);
std::string svg_line(int x1, int y1, int x2, int y2, std::string_view css_class);

/// The frame that figures of series share: labels at the left, one line of text below.
namespace frame {

inline constexpr int width = 320, height = 128, left = 4, right = 316, floor_y = 108;

/// Horizontal lines at round values of the scale, and their labels.
struct Grid {
  std::string strokes, labels;
};
Grid grid(const Scale& y, const std::function<std::string(double)>& label);

/// Returns the x of a value by its index in a series of `count` values.
int x_of(size_t index, size_t count);
/// Returns the finite values of a series from left to right.
Points points_of(const std::vector<double>& values, const Scale& y);

/// Returns "31 rounds, medians of 2 →", to be drawn below the frame.
std::string count_label(size_t count, std::string_view what, size_t max_points);

/// Returns a figure under its caption (markup); empty without a figure.
std::string captioned(std::string_view caption, const std::string& figure);

}  // namespace frame
}  // namespace torchstone::html
