#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/compile_cost.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/view.h"

namespace torchstone::html {
namespace {

constexpr int mark_width = 320, mark_left = 14, mark_right = 306;

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

/// Returns the metric `tolerance` if a check recorded it, else the number at the beginning of the note.
std::optional<double> tolerance_of(const Result& result) {
  if (const auto metric = metric_of(result, "tolerance")) return metric;
  const auto value = leading_number(value_in(result.outcome.notes, "tolerance"));
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
  const Scale x{low, high, mark_left, mark_right, /*logarithmic=*/true};
  const int row = 15, height = 34 + row * static_cast<int>(marks.size()), base = height - 16;
  std::string strokes = svg_line(mark_left, base, mark_right, base, "ax"), texts;
  if (tolerance && *tolerance > low && *tolerance < high) {
    const int at = x(*tolerance);
    const bool at_right = at > mark_width * 2 / 3;
    strokes += svg_line(at, 12, at, base, "rq");
    texts += svg_text(at + (at_right ? -3 : 3), 10, fmt::format("tolerance {:.3g}", *tolerance),
                      at_right ? "\"r rt\"" : "rt");
  }
  int y = 24;
  for (const auto& mark : marks) {  // the bullet marks the value, so the label is on the side with more room
    const int at = x(mark.value);
    texts += at > mark_width / 2 ? svg_text(at + 3, y, fmt::format("{} {:.3g} ●", mark.label, mark.value), "\"r t\"")
                                 : svg_text(at - 3, y, fmt::format("● {} {:.3g}", mark.label, mark.value), "t");
    y += row;
  }
  const double decades = std::log10(high / low), step = std::max(1.0, std::ceil(decades / 4));
  for (double power = std::log10(low); power <= std::log10(high) + 0.1; power += step)
    texts += svg_text(x(std::pow(10, power)), base + 12, fmt::format("1e{:.0f}", power), "m");
  return "<figure><figcaption>Errors and tolerance</figcaption>" + svg_open(mark_width, height) + svg_strokes(strokes) +
         texts + "</svg></figure>";
}

std::string error_bar(double error_of_limit) {
  constexpr int bar = 44, limit = 30;
  // A power of ten below the limit takes a quarter of the bar. Errors above the limit fill the rest.
  const double part = std::isnan(error_of_limit) || error_of_limit > 10 ? 1 : error_of_limit;
  const Scale x{1e-3, 1, 0, limit, true};
  const int length = part > 1 ? bar : x(part);
  return fmt::format(
      "<svg class=b width={} height=8><path class={} d=\"M0 1h{}v6H0\"/><path class=rq stroke=gray d=\"M{} "
      "0v8\"/></svg>",
      bar, error_of_limit <= 1 ? "e" : "x", std::max(length, 1), limit);
}

std::string stages_figure(const Result& result) {
  std::vector<Mark> stages;
  double total = 0;
  for (const auto& [key, name] : {std::pair{"capture_s", "capture"},
                                  {"compile_s", "compile"},
                                  {"load_s", "load"},
                                  {"first_call_s", "first call"}}) {
    const auto seconds = metric_of(result, key);
    if (!seconds || !std::isfinite(*seconds) || *seconds < 0) continue;
    stages.push_back({name, *seconds});
    total += *seconds;
  }
  if (stages.empty() || total <= 0) return "";
  const Scale x{0, total, 0, 320};
  std::string bar = svg_open(320, 14), legend;
  double done = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const int from = x(done), to = x(done += stages[i].value);
    bar += fmt::format("<path class=s{} d=\"M{} 1h{}v12H{}\"/>", i, from, std::max(1, to - from), from);
    legend += fmt::format("{}<span><i class=s{}></i>{} {}</span>", i == 0 ? "" : " ", i, stages[i].label,
                          time_text(stages[i].value));
  }
  const bool is_hit = metric_of(result, "cache_hit").value_or(0) == 1;
  const char* origin = is_warm_compile(result.outcome.metrics) ? ", with warm caches" : ", artifact from the cache";
  return fmt::format("<figure><figcaption>Compiling{}</figcaption>{}</svg><p class=lg>{}</figure>",
                     is_hit ? origin : "", bar, legend);
}

std::string memory_figure(const Result& result) {
  const auto eager = metric_of(result, "eager_peak_bytes"), compiled = metric_of(result, "compiled_peak_bytes");
  if (!eager || !compiled || !(std::max(*eager, *compiled) > 0)) return "";
  const Scale x{0, std::max(*eager, *compiled), 0, 320};
  const auto row = [&](int y, const char* css, const char* name, double bytes, const char* allocations) {
    std::string text = fmt::format("{} {}", name, format_metric("eager_peak_bytes", bytes));
    if (const auto count = metric_of(result, allocations)) text += fmt::format(", {:.0f} allocations", *count);
    return fmt::format("<path class={} fill-opacity=.35 d=\"M0 {}h{}v14H0\"/>", css, y, std::max(1, x(bytes))) +
           svg_text(4, y + 11, text, "t");
  };
  const auto ratio = metric_of(result, "peak_ratio");
  const std::string meaning = ratio && std::isfinite(*ratio) && *ratio > 0
                                  ? fmt::format(" of a call, above what was live before; eager ÷ compiled {}",
                                                format_metric("peak_ratio", *ratio))
                                  : " of a call, above what was live before";
  return "<figure><figcaption>Peak memory" + meaning + "</figcaption>" + svg_open(320, 32) +
         row(0, "e", "eager", *eager, "eager_allocations") +
         row(17, "k", "compiled", *compiled, "compiled_allocations") + "</svg></figure>";
}

std::string interval_bar(const Result& result) {
  const auto speedup = metric_of(result, "speedup");
  if (!speedup || !(*speedup > 0) || !std::isfinite(*speedup) || is_unknown(result, "speedup")) return "";
  const double low = metric_of(result, "speedup_low").value_or(*speedup),
               high = metric_of(result, "speedup_high").value_or(*speedup);
  constexpr int width = 96;
  const Scale x{0.5, 4, 1, width - 1, /*logarithmic=*/true};
  const char* css = is_noisy(result) ? "ev" : low > 1 ? "up" : high < 1 ? "dn" : "ev";
  std::string strokes = fmt::format("<path class=ax d=\"M{} 0v12\"/>", x(1));
  if (const auto required = metric_of(result, "required_speedup"); required && *required != 1)
    strokes += fmt::format("<path class=rq d=\"M{} 0v12\"/>", x(*required));
  strokes += fmt::format("<path class={} d=\"M{} 3v6m0-3H{}m0-3v6M{} 6l3-3 3 3-3 3-3-3\"/>", css, x(low),
                         std::max(x(high), x(low) + 1), x(*speedup) - 3);
  return fmt::format("<svg class=b width={} height=12 fill=none stroke=gray>{}</svg>", width, strokes);
}

std::string sparkline(const std::vector<double>& series, const std::optional<judge::ChangePoint>& step) {
  const double low = quantile(series, 0), high = quantile(series, 1);
  if (!std::isfinite(low) || series.size() < 2) return "";
  const Scale y{low, high > low ? high : low + 1, 15, 3};
  const auto x = [&](size_t i) {
    return 2 + static_cast<int>(std::lround(76.0 * static_cast<double>(i) / static_cast<double>(series.size() - 1)));
  };
  Points points;
  for (size_t i = 0; i < series.size(); ++i)
    if (std::isfinite(series[i])) points.emplace_back(x(i), y(series[i]));
  std::string out = fmt::format(
      "<svg class=b width=80 height=18 role=img aria-label=\"{} runs, {:.4g} to {:.4g}\">"
      "<path class=\"ln k\" fill=none stroke=gray d=\"{}\"/>",
      series.size(), series.front(), series.back(), line_path(points));
  if (step) out += fmt::format("<path class=rq stroke=gray d=\"M{} 0v18\"/>", x(step->index));
  return out + "</svg>";
}

}  // namespace torchstone::html
