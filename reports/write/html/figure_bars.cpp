// Small bars: stages, memory, the interval of a table's row, the trend.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "reports/record/metric.h"
#include "reports/record/noise.h"
#include "reports/write/html/figures.h"
#include "reports/write/html/markup.h"
#include "reports/write/html/plot.h"

namespace torchstone::html {
std::string stages_figure(const Result& result) {
  struct Stage {
    const char *key, *name;
    double seconds;
  };
  std::vector<Stage> stages;
  double total = 0;
  for (const auto& [key, name] : {std::pair{"capture_s", "capture"},
                                  {"compile_s", "compile"},
                                  {"load_s", "load"},
                                  {"first_call_s", "first call"}}) {
    const auto seconds = metric_of(result, key);
    if (!seconds || !std::isfinite(*seconds) || *seconds < 0) continue;
    stages.push_back({key, name, *seconds});
    total += *seconds;
  }
  if (stages.empty() || total <= 0) return "";
  const Scale x{0, total, 0, 320};
  std::string bar = svg_open(320, 14), legend;
  double done = 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const int from = x(done), to = x(done += stages[i].seconds);
    bar += fmt::format("<path class=s{} d=\"M{} 1h{}v12H{}\"/>", i, from, std::max(1, to - from), from);
    legend += fmt::format("{}<span><i class=s{}></i>{} {}</span>", i == 0 ? "" : " ", i, stages[i].name,
                          time_text(stages[i].seconds));
  }
  const auto hit = metric_of(result, "cache_hit");
  return fmt::format("<figure><figcaption>Compiling{}</figcaption>{}</svg><p class=lg>{}</figure>",
                     hit && *hit == 1 ? ", artifact from the cache" : "", bar, legend);
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
  return "<figure><figcaption>Peak memory</figcaption>" + svg_open(320, 32) +
         row(0, "e", "eager", *eager, "eager_allocations") +
         row(17, "k", "compiled", *compiled, "compiled_allocations") + "</svg></figure>";
}

std::string interval_bar(const Result& result) {
  const auto speedup = metric_of(result, "speedup");
  if (!speedup || !(*speedup > 0) || !std::isfinite(*speedup)) return "";
  const double low = metric_of(result, "speedup_low").value_or(*speedup),
               high = metric_of(result, "speedup_high").value_or(*speedup);
  constexpr int width = 96;
  const Scale x{0.5, 4, 1, width - 1, /*logarithmic=*/true};
  const char* css = is_noisy(result) ? "ev" : low > 1 ? "up" : high < 1 ? "dn" : "ev";
  std::string strokes = fmt::format("<path class=ax d=\"M{} 0v12\"/>", x(1));
  if (const auto required = metric_of(result, "required_speedup"); required && *required != 1) {
    strokes += fmt::format("<path class=rq d=\"M{} 0v12\"/>", x(*required));
  }
  // Ends as strokes, the middle as a lozenge.
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
