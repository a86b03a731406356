// Figures of errors: all on logarithmic axes, since errors of interest differ by powers of ten.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/write/html/figures.h"
#include "reports/write/html/plot.h"

namespace torchstone::html {
namespace {

constexpr int mark_width = 320, left = 14, right = 306;

struct Mark {
  std::string label;
  double value;
};

std::vector<Mark> marks_of(const Result& result) {
  std::vector<Mark> marks;
  for (const auto& [key, label] : {std::pair{"max_abs_error", "largest absolute error"},
                                   {"max_rel_error", "largest relative error"},
                                   {"mean_abs_error", "mean absolute error"},
                                   {"rmse_result", "RMSE to float64, compiled"},
                                   {"rmse_reference", "RMSE to float64, eager"},
                                   {"smallest_passing_tolerance", "would pass at tolerance"},
                                   {"tolerance_max", "relative difference, largest"},
                                   {"tolerance_mean", "relative difference, mean"},
                                   {"tolerance_std", "relative difference, deviation"}}) {
    if (const auto value = metric_of(result, key); value && *value >= 0) marks.push_back({label, *value});
  }
  return marks;
}

/// The tolerance of the case: a metric where a check records one, else the beginning of the note.
std::optional<double> tolerance_of(const Result& result) {
  if (const auto metric = metric_of(result, "tolerance")) return metric;
  const auto note = result.outcome.notes.find("tolerance");
  if (note == result.outcome.notes.end()) return std::nullopt;
  const auto value = leading_number(note->second);
  return value && *value > 0 ? value : std::nullopt;
}

}  // namespace

std::string tolerance_figure(const Result& result) {
  const auto marks = marks_of(result);
  if (marks.empty() || std::ranges::none_of(marks, [](const Mark& m) { return m.value > 0 && std::isfinite(m.value); }))
    return "";
  const auto tolerance = tolerance_of(result);
  double low = tolerance.value_or(1e-4), high = low;
  for (const auto& mark : marks) {
    if (mark.value > 0 && std::isfinite(mark.value)) low = std::min(low, mark.value), high = std::max(high, mark.value);
  }
  low = std::pow(10, std::floor(std::log10(std::max(low, 1e-12))));
  high = std::pow(10, std::ceil(std::log10(std::min(high, 1e12) * 1.01)));
  const Scale x{low, high, left, right, /*logarithmic=*/true};
  const int row = 15, height = 34 + row * static_cast<int>(marks.size()), base = height - 16;
  std::string strokes = svg_line(left, base, right, base, "ax"), texts;
  if (tolerance && *tolerance > low && *tolerance < high) {
    const int at = x(*tolerance);
    const bool at_right = at > mark_width * 2 / 3;
    strokes += svg_line(at, 12, at, base, "rq");
    texts += svg_text(at + (at_right ? -3 : 3), 10, fmt::format("tolerance {:.3g}", *tolerance),
                      at_right ? "\"r rt\"" : "rt");
  }
  int y = 24;
  for (const auto& mark : marks) {  // the bullet stands where the value is
    const int at = x(mark.value);
    texts += at > mark_width / 2 ? svg_text(at + 3, y, fmt::format("{} {:.3g} ●", mark.label, mark.value), "\"r t\"")
                                 : svg_text(at - 3, y, fmt::format("● {} {:.3g}", mark.label, mark.value), "t");
    y += row;
  }
  const double decades = std::log10(high / low), step = std::max(1.0, std::ceil(decades / 4));
  for (double power = std::log10(low); power <= std::log10(high) + 0.1; power += step) {
    texts += svg_text(x(std::pow(10, power)), base + 12, fmt::format("1e{:.0f}", power), "m");
  }
  return "<figure><figcaption>Errors and tolerance</figcaption>" + svg_open(mark_width, height) + svg_strokes(strokes) +
         texts + "</svg></figure>";
}

std::string error_bar(double error_of_limit) {
  constexpr int bar = 44, limit = 30;
  // A quarter of the bar a power of ten below the limit; what is beyond the limit fills the rest.
  const double part = std::isnan(error_of_limit) || error_of_limit > 10 ? 1 : error_of_limit;
  const Scale x{1e-3, 1, 0, limit, true};
  const int length = part > 1 ? bar : x(part);
  return fmt::format(
      "<svg class=b width={} height=8><path class={} d=\"M0 1h{}v6H0\"/><path class=rq stroke=gray d=\"M{} "
      "0v8\"/></svg>",
      bar, error_of_limit <= 1 ? "e" : "x", std::max(length, 1), limit);
}

}  // namespace torchstone::html
