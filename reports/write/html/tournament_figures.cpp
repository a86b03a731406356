#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/metric.h"
#include "reports/write/html/figures.h"
#include "reports/write/html/markup.h"

namespace torchstone::html {
namespace {

using judge::Standing;
using judge::Tournament;

constexpr int bar_width = 760, name_room = 250, number_room = 150, bar_height = 22;
constexpr int plot_width = 320, plot_height = 210, plot_left = 52, plot_floor = 178;

std::vector<const Standing*> timed_of(const Tournament& tournament) {
  std::vector<const Standing*> timed;
  for (const Standing& s : tournament.standings)
    if (s.timed) timed.push_back(&s);
  return timed;
}

const char* bar_class(const Standing& s) { return s.ties ? "up" : s.speedup_high < 1 ? "dn" : "ev"; }

/// An end that is not finite is drawn to the edge.
std::string bar(const Standing& s, size_t place, const Scale& x, int y) {
  const int from = x(1), to = x(s.speedup), middle = y + bar_height / 2 - 2;
  const int low = x(std::max(s.speedup_low, x.low)), high = x(std::min(s.speedup_high, x.high));
  std::string text = svg_text(0, middle + 4, shortened_middle(fmt::format("{}  {}", place, s.entrant.name), 46), "t");
  text += fmt::format("<path class={} fill-opacity=.35 stroke=none d=\"M{} {}H{}v12H{}z\"/>", bar_class(s),
                      std::min(from, to), middle - 6, std::max({from, to, std::min(from, to) + 1}), std::min(from, to));
  text += fmt::format("<path class={} fill=none d=\"M{} {}v8m0-4H{}m0-4v8\"/>", bar_class(s), low, middle - 4,
                      std::max(high, low + 1));
  return text + svg_text(bar_width - number_room + 8, middle + 4,
                         fmt::format("{:.2f}× [{:.2f} {:.2f}]", s.speedup, s.speedup_low, s.speedup_high), "t");
}

/// The range of positive numbers with some room, for a logarithmic scale.
std::pair<double, double> padded(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  const double room = std::max(1.05, std::pow(high / low, 0.08));
  return {low / room, high * room};
}

/// Where a value may be 0 the scale is linear from there; otherwise logarithmic.
Scale scale_of(const std::vector<double>& values, int from, int to) {
  if (std::ranges::all_of(values, [](double v) { return v > 0; })) {
    const auto [low, high] = padded(values);
    return {low, high, from, to, /*logarithmic=*/true};
  }
  const double high = std::ranges::max(values);
  return {0, high > 0 ? 1.08 * high : 1, from, to};
}

std::string dot(const Standing& s, size_t place, int x, int y) {
  const char* css = s.ties ? "up" : "ev";
  return fmt::format("<circle class={} cx={} cy={} r=4 fill-opacity={} />", css, x, y, s.on_front ? 1 : 0) +
         svg_text(x + 6, y - 4, fmt::format("{}", place), "t");
}

std::string plot(const std::vector<const Standing*>& timed, const judge::Criterion& criterion) {
  std::vector<double> times, values;
  std::vector<size_t> known;
  for (size_t i = 0; i < timed.size(); ++i) {
    const auto value = criterion.of(timed[i]->entrant);
    if (!value && !criterion.missing_is_nil) continue;
    if (!std::isfinite(value.value_or(0))) return "";
    known.push_back(i);
    times.push_back(timed[i]->seconds);
    values.push_back(value.value_or(0));
  }
  if (values.empty() || std::ranges::max(values) <= 0) return "";
  const Scale x = scale_of(times, plot_left, plot_width - 24), y = scale_of(values, plot_floor, 14);
  std::string out = svg_open(plot_width, plot_height, "\"f b\"");
  out += svg_line(plot_left, plot_floor, plot_width, plot_floor, "ax") +
         svg_line(plot_left, 4, plot_left, plot_floor, "ax");
  const auto words = [&](double value) {
    const std::string_view key = criterion.key;
    if (key == "error") return fmt::format("{:.1e}", value);
    return key.ends_with("_bytes") ? format_metric("artifact_bytes", value) : time_text(value);
  };
  const auto [low, high] = std::ranges::minmax(values);
  out += svg_text(0, y(high) + 3, words(high));
  if (y(low) - y(high) > 12) out += svg_text(0, y(low) + 3, words(low));
  const auto [fast, slow] = std::ranges::minmax(times);
  out += svg_text(x(fast), plot_floor + 13, time_text(fast), "m");
  if (x(slow) - x(fast) > 60) out += svg_text(x(slow), plot_floor + 13, time_text(slow), "m");
  out += svg_text(plot_left, plot_height - 4, "time of a call →");
  for (size_t i = 0; i < known.size(); ++i) out += dot(*timed[known[i]], known[i] + 1, x(times[i]), y(values[i]));
  return fmt::format("<figure><figcaption>Time and {}</figcaption>{}</svg></figure>", criterion.title, out);
}

}  // namespace

std::string speed_bars(const Tournament& tournament) {
  const auto timed = timed_of(tournament);
  if (timed.empty()) return "";
  std::vector<double> ends{1};
  for (const Standing* s : timed)
    for (const double end : {s->speedup, s->speedup_low, s->speedup_high})
      if (std::isfinite(end) && end > 0 && end < 10 * s->speedup && 10 * end > s->speedup) ends.push_back(end);
  const auto [low, high] = padded(ends);
  const Scale x{low, high, name_room, bar_width - number_room, /*logarithmic=*/true};
  const int height = static_cast<int>(timed.size()) * bar_height + 18;
  std::string out = svg_open(bar_width, height, "\"f b\"") + svg_line(x(1), 0, x(1), height - 16, "rq");
  out += svg_text(x(1), height - 4, "1×", "m");
  for (const double tick : round_ticks(low, high))
    if (std::abs(x(tick) - x(1)) > 30) out += svg_text(x(tick), height - 4, fmt::format("{:g}×", tick), "m");
  for (size_t i = 0; i < timed.size(); ++i) out += bar(*timed[i], i + 1, x, static_cast<int>(i) * bar_height);
  return fmt::format(
      "<figure class=wide><figcaption>Speed-up against eager, of {} processes, with intervals that hold together at "
      "{:.3g} %; green: {}</figcaption>{}</svg></figure>",
      judge::processes_words(tournament), 100 * tournament.options.confidence,
      tournament.best.size() == 1 ? "the winner" : "ties with the fastest", out);
}

std::string front_plots(const Tournament& tournament) {
  const auto timed = timed_of(tournament);
  std::string out;
  for (const auto& criterion : judge::criteria())
    if (!timed.empty()) out += plot(timed, criterion);
  return out.empty() ? "" : "<div class=figs>" + out + "</div>";
}

}  // namespace torchstone::html
