#include "reports/judge/history.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/report_json.h"
#include "reports/record/result_json.h"
#include "reports/record/run_facts.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"

namespace torchstone::judge {
namespace {

constexpr std::array kept_metrics = {"speedup",        "speedup_low",    "speedup_high",       "eager_ms",
                                     "compiled_ms",    "compile_s",      "eager_peak_bytes",   "compiled_peak_bytes",
                                     "artifact_bytes", "error_of_limit", "cold_compile_cpu_s", "warm_compile_cpu_s"};

struct TextMember {
  const char* key;
  std::string HistoryPoint::*member;
};
constexpr std::array text_members = {
    TextMember{"run", &HistoryPoint::run},         TextMember{"started", &HistoryPoint::started},
    TextMember{"name", &HistoryPoint::name},       TextMember{"device", &HistoryPoint::device},
    TextMember{"machine", &HistoryPoint::machine}, TextMember{"status", &HistoryPoint::status}};

HistoryPoint read_point(const nlohmann::json& json) {
  const Members line(json, "the line", "");
  HistoryPoint point;
  for (const auto& [key, member] : text_members) {
    const bool required = member == &HistoryPoint::run || member == &HistoryPoint::name;
    point.*member = required ? line.required_text(key) : line.text(key);
  }
  const auto& noisy = line["noisy"];
  if (!noisy.is_null() && !noisy.is_boolean())
    throw std::invalid_argument(fmt::format("noisy: expected true or false, found {}", noisy.type_name()));
  point.noisy = line.boolean("noisy");
  point.metrics = line.map("metrics", number_of);
  return point;
}

constexpr size_t spark_width = 20, fixed_width = 3 + 6 + spark_width + 2 + 10;

struct Line {
  const Series* series;
  std::optional<ChangePoint> step;
  std::string name, step_text;
};

/// Returns asv's marks: "!" for a worse step, "*" for a better one, "~" for one that is neither.
char mark_of(const ChangePoint& step, const std::string& metric) {
  const MetricInfo* info = find_metric(metric);
  if (info == nullptr || info->better == Better::neither) return '~';
  return (step.after > step.before) == (info->better == Better::higher) ? '*' : '!';
}

std::string text_of_step(const Series& series, const ChangePoint& step, const std::string& metric) {
  return fmt::format("{} {} → {} since run {}", mark_of(step, metric), format_metric(metric, step.before),
                     format_metric(metric, step.after), terminal_line(series.points[step.index]->run));
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

std::vector<HistoryPoint> history_points(const Report& report) {
  std::string begin = report.run.started;
  for (const auto& result : report.results) {
    if (report.run.started.empty() && (begin.empty() || result.recorded < begin)) begin = result.recorded;
  }
  // A killed run has no id or start, so its first record names it.
  const std::string run = report.run.id.empty() ? begin : report.run.id;
  std::vector<HistoryPoint> points;
  for (const Result* result : one_of_each_name(report.results)) {
    const Status status = final_status(*result);
    HistoryPoint point{run,
                       begin,
                       result->name,
                       result->device,
                       machine_of(*result, report.run),
                       std::string(to_string(status)),
                       {},
                       is_noisy(*result)};
    for (const char* key : kept_metrics)
      if (const auto value = metric_of(*result, key)) point.metrics.emplace(key, *value);
    points.push_back(std::move(point));
  }
  return points;
}

std::set<std::string> known_metrics(const std::vector<HistoryPoint>& points) {
  std::set<std::string> keys(kept_metrics.begin(), kept_metrics.end());
  for (const auto& point : points)
    for (const auto& [key, value] : point.metrics) keys.insert(key);
  return keys;
}

std::vector<HistoryPoint> parse_history(const std::string& text, const std::string& file,
                                        std::vector<std::string>* warnings) {
  std::vector<HistoryPoint> points;
  int number = 1;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      check_json_limits(line);
      const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (json.is_discarded() && end == text.size()) {
        if (warnings != nullptr)
          warnings->push_back(fmt::format("{}:{}: the last line is cut off; left out", file, number));
        break;
      }
      if (json.is_discarded())
        throw std::invalid_argument(fmt::format("expected a JSON object, found {}", shortened(printable(line), 60)));
      points.push_back(read_point(json));
    } catch (const std::invalid_argument& error) {
      throw ReportError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
  }
  return points;
}

std::vector<HistoryPoint> read_history(const std::filesystem::path& file, std::vector<std::string>* warnings) {
  constexpr size_t most = 512 * mebibyte;
  return parse_history(read_at_most(file, most), file.string(), warnings);
}

std::string write_history(const std::vector<HistoryPoint>& points) {
  std::string text;
  for (const auto& point : points) {
    auto json = nlohmann::ordered_json::object();
    for (const auto& [key, member] : text_members) json[key] = valid_utf8(point.*member);
    json["metrics"] = nlohmann::ordered_json::object();
    for (const auto& [key, value] : point.metrics) json["metrics"][valid_utf8(key)] = number_to_json(value);
    if (point.noisy) json["noisy"] = true;
    text += printable_json(json.dump()) + "\n";
  }
  return text;
}

std::vector<HistoryPoint> unite_histories(std::vector<HistoryPoint> points, const std::vector<HistoryPoint>& further) {
  std::set<std::pair<std::string, std::string>> known;
  const auto is_new = [&](const HistoryPoint& point) { return known.emplace(point.run, point.name).second; };
  std::erase_if(points, [&](const HistoryPoint& point) { return !is_new(point); });
  std::ranges::copy_if(further, std::back_inserter(points), is_new);
  std::ranges::stable_sort(points, {}, &HistoryPoint::started);
  return points;
}

std::vector<Series> case_series(const std::vector<HistoryPoint>& points, const std::string& metric) {
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
  const auto last = std::span(values).last(std::min(width, values.size()));
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
  const auto all = case_series(points, metric);
  if (all.empty()) {
    std::set<std::string> measured;
    for (const auto& point : points)
      for (const auto& [key, value] : point.metrics) measured.insert(key);
    return terminal_line(fmt::format("no case has {}; there are: {}", metric, fmt::join(measured, ", "))) + "\n";
  }
  std::map<std::string, int> kinds;  // number of machine kinds by case
  for (const auto& series : all) ++kinds[series.name];
  std::vector<Line> lines;
  size_t name_width = 20, stepped = 0;
  for (const auto& series : all) {
    Line line{&series, newest_change_point(series.values), short_name(series.name), ""};
    if (kinds[series.name] > 1) line.name += " @ " + series.machine;
    line.name = terminal_line(line.name);
    if (line.step) line.step_text = text_of_step(series, *line.step, metric);
    name_width = std::max(name_width, columns(line.name));
    stepped += line.step.has_value();
    lines.push_back(std::move(line));
  }
  const auto rank = [&](const Line& line) { return !line.step ? 2 : mark_of(*line.step, metric) == '!' ? 0 : 1; };
  std::ranges::stable_sort(lines, {}, rank);
  name_width = std::min(name_width, std::max<size_t>(width, fixed_width + 20) - fixed_width);
  std::string table = fmt::format("  {:<{}} {:>5} {:<{}}  {:>9}\n", "case", name_width, "runs", terminal_line(metric),
                                  spark_width, "last");
  for (const auto& line : lines) {
    const auto& values = line.series->values;
    table += fmt::format("  {} {:>5} {}  {:>9}\n", padded(line.name, name_width), values.size(),
                         padded(sparkline(values, spark_width), spark_width),
                         format_metric(metric, line.series->points.back()->metrics.at(metric)));
    if (!line.step_text.empty()) table += shortened("      " + line.step_text, width) + "\n";
  }
  const auto noisy =
      std::ranges::count_if(all, [&](const Series& series) { return is_noisy_in(*series.points.back(), metric); });
  const std::string remark = noisy == 0 ? "" : fmt::format(", {} whose last value is noisy", noisy);
  return table + fmt::format("{} series, {} with a step{}\n", lines.size(), stepped, remark);
}

}  // namespace torchstone::judge
