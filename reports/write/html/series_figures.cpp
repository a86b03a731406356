// Figures of series: rounds, processes, batches, training steps.

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "reports/record/summary.h"
#include "reports/record/tables/suite_tables.h"
#include "reports/statistics/statistics.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::html {
namespace {

using namespace frame;

constexpr int bins = 52;

struct Side {
  std::string_view name, css_class;
  const std::vector<double>& seconds;
  double middle;  ///< seconds per call that the case reports
};

/// Returns the data of one side. Its middle is the reported `metric`, in which each process counts once, or else the
/// median of all rounds.
Side side_of(const Result& result, std::string_view name, std::string_view css_class, const char* series,
             const char* metric) {
  const auto& seconds = samples_of(result, series);
  const auto milliseconds = metric_of(result, metric);
  const bool is_known = milliseconds && std::isfinite(*milliseconds) && *milliseconds > 0;
  return {name, css_class, seconds, is_known ? *milliseconds / 1e3 : quantile(seconds, 0.5)};
}

/// Returns an axis that ends at the 94th percentile, because outliers would squeeze everything else into a corner.
std::pair<double, double> common_range(const Side& a, const Side& b) {
  double low = std::min(quantile(a.seconds, 0), quantile(b.seconds, 0));
  double high = std::max(quantile(a.seconds, 0.94), quantile(b.seconds, 0.94));
  const double pad = high > low ? (high - low) * 0.04 : std::abs(low) * 0.05 + 1e-12;
  return {std::max(0.0, low - pad), high + pad};
}

std::string axis(const Scale& x) {
  std::string ticks = fmt::format("M{} {}H{}", left, floor_y, right), labels;
  for (const double tick : round_ticks(x.low, x.high)) {
    ticks += fmt::format("M{} {}v3", x(tick), floor_y);
    labels += svg_text(x(tick), floor_y + 14, time_text(tick), "m");
  }
  return svg_strokes(svg_stroke("ax", ticks)) + labels;
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
      ++counts[static_cast<size_t>(std::clamp(static_cast<int>((value - x.low) / step), 0, bins - 1))];
  }
  const int most = std::max(1, *std::ranges::max_element(counts));
  std::string path = fmt::format("M{} {}", left, base);
  int drawn = 0, from = left, bin = 0;
  const auto level = [&](int height, int at) {
    if (height == drawn) return;
    path += fmt::format("h{}v{}", at - from, drawn - height);
    drawn = height;
    from = at;
  };
  for (const int count : counts) level(count * 23 / most, left + bin++ * (right - left) / bins);
  level(0, right);
  const double middle = side.middle;
  const bool at_right = x(middle) > (left + right) / 2;
  std::string out = fmt::format("<path class={} fill-opacity=.35 d=\"{}\"/>", side.css_class, path);
  out += svg_strokes(svg_line(x(middle), base - 34, x(middle), base, side.css_class));
  std::string label = fmt::format("{} {}", side.name, time_text(middle));
  if (beyond > 0) label += fmt::format(", {} beyond", beyond);
  out += svg_text(x(middle) + (at_right ? -4 : 4), base - 27, label, at_right ? "\"r t\"" : "t");
  return out;
}

std::string distributions(const Side& eager, const Side& compiled) {
  const auto [low, high] = common_range(eager, compiled);
  const Scale x{low, high, left, right};
  return svg_open(width, height) + histogram(eager, x, 50) + histogram(compiled, x, 100) + axis(x) + "</svg>";
}

std::string run_order(const Side& eager, const Side& compiled, size_t max_points) {
  const auto [low, high] = common_range(eager, compiled);
  const Scale y{low, high, floor_y - 4, 8};
  auto [strokes, labels] = grid(y, time_text);
  for (const Side* side : {&eager, &compiled})
    strokes += svg_stroke(side->css_class, line_path(points_of(thinned(side->seconds, max_points), y)));
  return svg_open(width, height) + svg_strokes(strokes) + labels +
         count_label(std::max(eager.seconds.size(), compiled.seconds.size()), "rounds", max_points) + "</svg>";
}

/// Draws the interval as a band behind everything.
std::string band(const Scale& y, std::optional<double> low, std::optional<double> high) {
  if (!low || !high) return "";
  return fmt::format("<path class=bd fill-opacity=.2 d=\"M{} {}H{}V{}H{}\"/>", left + 36, y(*high), right,
                     std::max(y(*low), y(*high) + 1), left + 36);
}

/// Returns the number of rounds of each process; empty for one process, or if they do not add up to `count`.
std::vector<size_t> rounds_of_processes(const Result& result, size_t count) {
  const auto& lengths = samples_of(result, "process_rounds");
  if (lengths.size() < 2) return {};
  std::vector<size_t> rounds;
  size_t sum = 0;
  for (const double of_process : lengths) {
    if (!(of_process >= 1 && of_process <= static_cast<double>(count))) return {};
    rounds.push_back(static_cast<size_t>(of_process));
    sum += rounds.back();
  }
  return sum == count ? rounds : std::vector<size_t>{};
}

/// Draws a border between processes, and the median of each across its rounds.
std::string processes(const std::vector<double>& ratio, const std::vector<size_t>& rounds, const Scale& y) {
  std::string borders, medians;
  for (size_t i = 0, begin = 0; i < rounds.size(); begin += rounds[i++]) {
    const double middle = quantile(std::span(ratio).subspan(begin, rounds[i]), 0.5);
    const int from = x_of(begin, ratio.size());
    if (begin > 0) borders += fmt::format("M{} 8V{}", from, floor_y - 4);
    if (std::isfinite(middle) && middle > y.low && middle < y.high)
      medians += fmt::format("M{} {}H{}", from, y(middle), x_of(begin + rounds[i] - 1, ratio.size()) + 1);
  }
  return svg_stroke("gr", borders) + svg_stroke("e", medians);
}

std::string ratios(const Result& result, const Side& eager, const Side& compiled, const std::vector<size_t>& rounds,
                   size_t max_points) {
  std::vector<double> ratio;
  for (size_t i = 0; i < std::min(eager.seconds.size(), compiled.seconds.size()); ++i)
    ratio.push_back(eager.seconds[i] / compiled.seconds[i]);
  const auto required = metric_of(result, "required_speedup"), speedup = metric_of(result, "speedup");
  double low = quantile(ratio, 0.05), high = quantile(ratio, 0.95);
  // The axis always shows the requirement, and 1 (no gain) if it is near.
  for (const double line : {required.value_or(1), 1.0}) {
    if (required == line || std::abs(line - low) < 0.2 || std::abs(line - high) < 0.2)
      low = std::min(low, line), high = std::max(high, line);
  }
  if (!std::isfinite(low) || !std::isfinite(high)) return "";
  const double pad = std::max(0.02, (high - low) * 0.08);
  const Scale y{low - pad, high + pad, floor_y - 4, 8};
  auto [strokes, labels] = grid(y, [](double tick) { return fmt::format("{:.4g}×", tick); });
  if (!rounds.empty()) strokes += processes(ratio, rounds, y);
  if (y.low < 1 && y.high > 1) strokes += svg_line(left + 36, y(1), right, y(1), "ax");
  if (speedup && std::isfinite(*speedup)) strokes += svg_line(left + 36, y(*speedup), right, y(*speedup), "k");
  if (required) {
    strokes += svg_line(left + 36, y(*required), right, y(*required), "rq");
    labels += svg_text(right, y(*required) - 3, fmt::format("required {:.4g}×", *required), "\"r rt\"");
  }
  strokes += fmt::format("<path class=dt stroke-linecap=round stroke-width=2 d=\"{}\"/>",
                         dots_path(points_of(thinned(ratio, max_points), y)));
  return svg_open(width, height) + band(y, metric_of(result, "speedup_low"), metric_of(result, "speedup_high")) +
         svg_strokes(strokes) + labels +
         count_label(ratio.size(), rounds.empty() ? "rounds" : fmt::format("rounds of {} processes", rounds.size()),
                     max_points) +
         "</svg>";
}

bool usable(const std::vector<double>& seconds) { return std::isfinite(quantile(seconds, 0.5)); }

using tables::DynamicTiming;

bool drawable(const std::vector<DynamicTiming>& timings) {
  return timings.size() > 1 && timings.front().batch > 0 && timings.front().batch < timings.back().batch &&
         std::ranges::all_of(timings, [](const DynamicTiming& at) {
           return std::isfinite(at.batch) && std::isfinite(at.speedup) && std::isfinite(at.static_speedup());
         });
}

/// Returns a scale of all drawn values. An interval without an end does not widen it.
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

std::string timing_figures(const Result& result, size_t max_points, bool with_run_order) {
  const Side eager = side_of(result, "eager", "e", "eager_s", "eager_ms");
  const Side compiled = side_of(result, "compiled", "k", "compiled_s", "compiled_ms");
  if (!usable(eager.seconds) || !usable(compiled.seconds)) return "";
  std::string out = captioned("Time per call", distributions(eager, compiled));
  if (with_run_order) {
    out +=
        captioned("In run order <i class=e>eager</i> <i class=k>compiled</i>", run_order(eager, compiled, max_points));
  }
  const auto rounds = rounds_of_processes(result, std::min(eager.seconds.size(), compiled.seconds.size()));
  return out + captioned(rounds.empty() ? "Eager ÷ compiled, each round"
                                        : "Eager ÷ compiled, each round <i class=e>median of a process</i>",
                         ratios(result, eager, compiled, rounds, max_points));
}

std::string dynamic_figure(const Result& result) {
  const auto timings = tables::dynamic_timings(result);
  if (!drawable(timings)) return "";
  const Scale x{timings.front().batch, timings.back().batch, left + 44, right - 8, true}, y = scale_of(timings);
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
  strokes += svg_line(left + 36, y(1), right, y(1), "rq") + svg_stroke("k", intervals) +
             svg_stroke("e", line_path(fixed)) + svg_stroke("k", line_path(dynamic));
  const char* what = result.dynamic == "all" ? "Speed-up by batch, at the sizes of the table" : "Speed-up by batch";
  return captioned(std::string(what) + " <i class=k>dynamic</i> <i class=e>static</i>",
                   svg_open(width, height) + svg_strokes(strokes) + labels + "</svg>");
}

std::string loss_figure(const Result& result, size_t max_points) {
  const auto &eager = samples_of(result, "eager_loss"), &compiled = samples_of(result, "compiled_loss");
  const size_t steps = std::max(eager.size(), compiled.size());
  std::vector<double> both = eager;
  both.insert(both.end(), compiled.begin(), compiled.end());
  const double low = quantile(both, 0), high = quantile(both, 1);
  if (eager.empty() || compiled.empty() || steps < 3 || !std::isfinite(low)) return "";
  const double pad = high > low ? (high - low) * 0.04 : std::abs(low) * 0.05 + 1e-12;
  const Scale y{low - pad, high + pad, floor_y - 4, 8};
  auto [strokes, labels] = grid(y, [](double tick) { return fmt::format("{:.4g}", tick); });
  const auto line = [&](const std::vector<double>& losses) {
    return line_path(points_of(thinned(losses, max_points), y));
  };
  strokes += fmt::format("<path class=k stroke-width=5 stroke-opacity=.4 d=\"{}\"/>", line(compiled));
  strokes += svg_stroke("e", line(eager));
  return captioned(
      "Loss, step by step <i class=e>eager</i> <i class=k>compiled</i>",
      svg_open(width, height) + svg_strokes(strokes) + labels + count_label(steps, "steps", max_points) + "</svg>");
}

}  // namespace torchstone::html
