#include "reports/judge/history_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/metric.h"
#include "reports/record/row.h"

namespace torchstone::judge {
namespace {

constexpr size_t spark_width = 20, fixed_width = 3 + 6 + spark_width + 2 + 10;

struct Line {
  const Series* series;
  std::optional<ChangePoint> step;
};

/// asv's marks: "!" a step for the worse, "*" one for the better, "~" one that is neither.
char mark_of(const ChangePoint& step, const std::string& metric) {
  const MetricInfo* info = find_metric(metric);
  if (info == nullptr || info->better == Better::neither) return '~';
  return (step.after > step.before) == (info->better == Better::higher) ? '*' : '!';
}

std::string step_text(const Line& line, const std::string& metric) {
  if (!line.step) return "";
  const HistoryPoint& point = *line.series->points[line.step->index];
  return fmt::format("{} {} → {} since run {}", mark_of(*line.step, metric), format_metric(metric, line.step->before),
                     format_metric(metric, line.step->after), terminal_line(point.run));
}

std::string padded(const std::string& text, size_t width) {
  const std::string cell = shortened_middle(text, width);
  return cell + std::string(width - columns(cell), ' ');
}

bool is_noisy_in(const HistoryPoint& point, const std::string& metric) {
  const MetricInfo* info = find_metric(metric);
  return point.noisy && info != nullptr && info->judged == Judged::by_rounds;
}

}  // namespace

std::vector<Series> series_of(const std::vector<HistoryPoint>& points, const std::string& metric) {
  std::vector<Series> all;
  std::map<std::tuple<std::string, std::string, std::string>, size_t> places;
  for (const auto& point : points) {
    const auto found = point.metrics.find(metric);
    if (found == point.metrics.end()) continue;
    const auto [place, is_new] = places.emplace(std::tuple{point.name, point.device, point.machine}, all.size());
    if (is_new) all.push_back({point.name, point.device, point.machine, {}, {}});
    all[place->second].points.push_back(&point);
    all[place->second].values.push_back(is_noisy_in(point, metric) ? NAN : found->second);
  }
  return all;
}

std::string sparkline(const std::vector<double>& values, size_t width) {
  static constexpr std::array blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::vector<double> last(values.end() - static_cast<std::ptrdiff_t>(std::min(width, values.size())),
                                 values.end());
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const double value : last) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  std::string line;
  for (const double value : last) {
    const double part = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;  // halves cannot overflow
    line += std::isfinite(value) ? blocks[std::min<size_t>(7, static_cast<size_t>(part * 8))] : "·";
  }
  return line;
}

std::string history_table(const std::vector<HistoryPoint>& points, const std::string& metric, size_t width) {
  const auto all = series_of(points, metric);
  if (all.empty()) {
    std::set<std::string> measured;
    for (const auto& point : points)
      for (const auto& [key, value] : point.metrics) measured.insert(key);
    return terminal_line(fmt::format("no case has {}; there are: {}", metric, fmt::join(measured, ", "))) + "\n";
  }
  std::vector<Line> lines;
  std::map<std::string, int> kinds;  // of machines, by case
  for (const auto& series : all) {
    lines.push_back({&series, newest_change_point(series.values)});
    ++kinds[series.name];
  }
  const auto rank = [&](const Line& line) { return !line.step ? 2 : mark_of(*line.step, metric) == '!' ? 0 : 1; };
  std::ranges::stable_sort(lines, {}, rank);
  size_t name_width = 20, stepped = 0;
  std::vector<std::pair<std::string, std::string>> texts;  // name, step
  for (const auto& line : lines) {
    std::string name = short_name(line.series->name);
    if (kinds[line.series->name] > 1) name += " @ " + line.series->machine;
    texts.emplace_back(terminal_line(name), step_text(line, metric));
    name_width = std::max(name_width, columns(texts.back().first));
    stepped += line.step.has_value();
  }
  name_width = std::min(name_width, std::max<size_t>(width, fixed_width + 20) - fixed_width);
  std::string table = fmt::format("  {:<{}} {:>5} {:<{}}  {:>9}\n", "case", name_width, "runs", terminal_line(metric),
                                  spark_width, "last");
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& values = lines[i].series->values;
    std::string row = fmt::format("  {} {:>5} {}  {:>9}", padded(texts[i].first, name_width), values.size(),
                                  padded(sparkline(values, spark_width), spark_width),
                                  format_metric(metric, lines[i].series->points.back()->metrics.at(metric)));
    table += row + "\n";
    if (!texts[i].second.empty()) table += shortened("      " + texts[i].second, width) + "\n";
  }
  const auto noisy =
      std::ranges::count_if(all, [&](const Series& series) { return is_noisy_in(*series.points.back(), metric); });
  const std::string words = noisy == 0 ? "" : fmt::format(", {} whose last value is noisy", noisy);
  return table + fmt::format("{} series, {} with a step{}\n", lines.size(), stepped, words);
}

}  // namespace torchstone::judge
