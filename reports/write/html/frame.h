#pragma once
#include <functional>

#include "reports/write/html/plot.h"

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
