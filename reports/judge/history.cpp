#include "reports/judge/history.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/fields.h"
#include "reports/record/json_limits.h"
#include "reports/record/noise.h"
#include "reports/record/repetitions.h"
#include "reports/record/summary.h"

namespace torchstone::judge {
namespace {

constexpr std::array kept_metrics = {"speedup",        "speedup_low",   "speedup_high",     "eager_ms",
                                     "compiled_ms",    "compile_s",     "eager_peak_bytes", "compiled_peak_bytes",
                                     "artifact_bytes", "error_of_limit"};

struct TextMember {
  const char* key;
  std::string HistoryPoint::*member;
};
constexpr std::array text_members = {
    TextMember{"run", &HistoryPoint::run},         TextMember{"started", &HistoryPoint::started},
    TextMember{"name", &HistoryPoint::name},       TextMember{"device", &HistoryPoint::device},
    TextMember{"machine", &HistoryPoint::machine}, TextMember{"status", &HistoryPoint::status}};

HistoryPoint point_of(const nlohmann::json& json) {
  HistoryPoint point;
  for (const auto& [key, member] : text_members) {
    const auto& value = member_of(json, key, "the line");
    const bool required = member == &HistoryPoint::run || member == &HistoryPoint::name;
    if (required || !value.is_null()) point.*member = text_of(value, key);
  }
  const auto& noisy = member_of(json, "noisy", "the line");
  if (!noisy.is_null() && !noisy.is_boolean())
    throw std::invalid_argument(fmt::format("noisy: expected true or false, found {}", noisy.type_name()));
  point.noisy = noisy.is_boolean() && noisy.get<bool>();
  const auto& metrics = member_of(json, "metrics", "the line");
  if (metrics.is_null()) return point;
  for (const auto& [key, value] : object_of(metrics, "metrics").items()) {
    point.metrics[key] = number_of(value, "metrics." + key);
  }
  return point;
}

}  // namespace

std::string machine_of(const RunInfo& run) {
  std::string machine;
  const auto add = [&](const Facts& facts, const char* key, const char* unit) {
    const auto found = facts.find(key);
    if (found != facts.end() && !found->second.empty()) machine += (machine.empty() ? "" : ", ") + found->second + unit;
  };
  add(run.machine, "cpu", "");
  add(run.machine, "usable_cores", " cores");
  add(run.build, "gpu", "");
  return machine;
}

std::vector<HistoryPoint> history_points(const Report& report) {
  std::string begin = report.run.started;
  for (const auto& result : report.results) {
    if (report.run.started.empty() && (begin.empty() || result.recorded < begin)) begin = result.recorded;
  }
  // A killed run left only its cases: the first of them names it.
  const std::string run = report.run.id.empty() ? begin : report.run.id;
  const std::string machine = machine_of(report.run);
  std::vector<HistoryPoint> points;
  for (const Result* result : one_of_each_name(report.results)) {
    const Status status = final_status(*result);
    HistoryPoint point{
        run, begin, result->name, result->device, machine, std::string(to_string(status)), {}, is_noisy(*result)};
    for (const auto& key : kept_metrics) {
      const auto found = result->outcome.metrics.find(key);
      if (found != result->outcome.metrics.end()) point.metrics.insert(*found);
    }
    points.push_back(std::move(point));
  }
  return points;
}

std::set<std::string> metrics_of(const std::vector<HistoryPoint>& points) {
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
    } catch (const std::invalid_argument& error) {
      throw ReportError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded() && end == text.size()) {
      if (warnings != nullptr)
        warnings->push_back(fmt::format("{}:{}: the last line is cut off; left out", file, number));
      break;
    }
    if (json.is_discarded()) {
      throw ReportError(
          fmt::format("{}:{}: expected a JSON object, found {}", file, number, shortened(printable(line), 60)));
    }
    try {
      points.push_back(point_of(json));
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

}  // namespace torchstone::judge
