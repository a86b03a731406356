// Results in the formats of two dashboards: PyTorch's benchmark database and the GitHub action github-action-benchmark.

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torchstone/report_writer.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/summary.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/record/tables/upstream_suites.h"
#include "reports/statistics/statistics.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

using nlohmann::ordered_json;

std::string json_text(const ordered_json& json) {
  return printable_json(json.dump(1, ' ', false, ordered_json::error_handler_t::replace)) + "\n";
}

/// Returns a metric if it is finite and its interval is informative. JSON has neither NaN nor infinities.
std::optional<double> known_metric(const Result& r, const std::string& key) {
  const auto value = metric_of(r, key.c_str());
  return value && std::isfinite(*value) && !is_unknown(r, key) ? value : std::nullopt;
}

/// Returns the interval of a metric if both ends are numbers.
std::optional<statistics::Interval> finite_interval(const Result& r, const std::string& key) {
  const auto interval = interval_of(r, key);
  const bool finite = interval && std::isfinite(interval->low) && std::isfinite(interval->high);
  return finite ? interval : std::nullopt;
}

/// Returns the metrics that a comparison with a baseline judges: the numbers that a dashboard watches.
std::vector<const MetricInfo*> watched_metrics() {
  std::vector<const MetricInfo*> watched;
  for (const auto& info : metric_table())
    if (info.judged != Judged::never) watched.push_back(&info);
  return watched;
}

// PyTorch's benchmark database

/// Returns the watched metrics that upstream's tables lack, under Torchstone's names.
std::vector<tables::NumberColumn> database_numbers(const std::string& check) {
  auto numbers = tables::number_columns(check);
  for (const MetricInfo* info : watched_metrics()) {
    const bool is_listed = std::ranges::any_of(numbers, [&](const auto& column) { return column.metric == info->key; });
    if (!is_listed) numbers.push_back({info->key.data(), info->key.data()});
  }
  return numbers;
}

std::string unit_of(const tables::NumberColumn& column) {
  if (!std::string_view(column.unit).empty()) return column.unit;
  const MetricInfo* info = find_metric(column.metric);
  return info == nullptr ? "" : std::string(info->unit);
}

ordered_json database_number(const Result& r, const tables::NumberColumn& column, double value) {
  ordered_json metric{{"name", column.name}, {"benchmark_values", ordered_json::array({value * column.factor})}};
  const auto required = known_metric(r, "required_speedup");
  if (std::string_view(column.metric) == "speedup" && required) metric["target_value"] = *required;
  ordered_json extra = ordered_json::object();
  if (const std::string unit = unit_of(column); !unit.empty()) extra["unit"] = unit;
  if (const auto bounds = finite_interval(r, column.metric)) {
    extra["low"] = exact(bounds->low * column.factor);
    extra["high"] = exact(bounds->high * column.factor);
  }
  if (!extra.empty()) metric["extra_info"] = std::move(extra);
  return metric;
}

/// Returns the parts that all records of a case share.
ordered_json database_case(const tables::TableRow& row, const RunInfo& run) {
  const Result& r = *row.result;
  ordered_json extra{{"case", r.name},
                     {"check", r.check},
                     {"device", tables::kind_of_device(r.device)},
                     {"batch_size", std::to_string(r.batch_size)},
                     {"preset", r.preset},
                     {"dynamic", r.dynamic},
                     {"status", to_string(final_status(r))}};
  for (const auto& [key, text] : {std::pair<const char*, std::string>{"noisy", noisy_reason(r)},
                                  {"torch", value_in(run.build, "torch")},
                                  {"cpu", r.machine.empty() ? value_in(run.machine, "cpu") : ""},
                                  {"machine", r.machine},
                                  {"tag", run.tag}})
    if (!text.empty()) extra[key] = text;
  return {{"benchmark", {{"name", "Torchstone"}, {"mode", r.mode}, {"dtype", r.dtype}, {"extra_info", extra}}},
          {"model",
           {{"name", row.model},
            {"type", tables::is_of_an_operator(r) ? "operator" : "model"},
            {"backend", r.backend},
            {"origins", ordered_json::array({r.suite})}}}};
}

// github-action-benchmark

ordered_json action_entry(const Result& r, const MetricInfo& info, double value) {
  const std::string key(info.key);
  ordered_json entry{
      {"name", fmt::format("{} {}", r.name, key)}, {"unit", info.unit.empty() ? "count" : info.unit}, {"value", value}};
  if (const auto bounds = finite_interval(r, key))
    entry["range"] = fmt::format("[{}, {}]", format_metric(key, bounds->low), format_metric(key, bounds->high));
  std::string extra(to_string(final_status(r)));
  if (const std::string noisy = noisy_reason(r); !noisy.empty()) extra += "\nnoisy: " + noisy;
  entry["extra"] = extra;
  return entry;
}

ordered_json action_entries(const std::vector<Result>& results, Better better) {
  ordered_json entries = ordered_json::array();
  for (const Result* r : one_of_each_name(results))
    for (const MetricInfo* info : watched_metrics())
      if (info->better == better)
        if (const auto value = known_metric(*r, std::string(info->key)))
          entries.push_back(action_entry(*r, *info, *value));
  return entries;
}

}  // namespace

std::string write_benchmark_database(const Report& report) {
  ordered_json records = ordered_json::array();
  for (const auto& row : tables::rows_of_tables(report.results)) {
    const ordered_json of_case = database_case(row, report.run);
    const auto add = [&](ordered_json metric) {
      records.push_back(of_case);
      records.back()["metric"] = std::move(metric);
    };
    const Result& r = *row.result;
    if (r.check == "accuracy")
      add({{"name", "accuracy"},
           {"extra_info", {{"benchmark_values", ordered_json::array({to_string(final_status(r))})}}}});
    for (const auto& column : database_numbers(r.check))
      if (const auto value = known_metric(r, column.metric)) add(database_number(r, column, *value));
  }
  return json_text(records);
}

NamedTexts write_benchmark_action(const Report& report) {
  NamedTexts files;
  for (const auto& [name, better] :
       {std::pair{"smaller_is_better.json", Better::lower}, std::pair{"bigger_is_better.json", Better::higher}}) {
    const auto entries = action_entries(report.results, better);
    files.emplace_back(name, entries.empty() ? "" : json_text(entries));
  }
  return files;
}

TORCHSTONE_REPORT_WRITER(
    benchmark_database, .help = "For PyTorch's benchmark database (test-infra's action upload-benchmark-results)",
    .each_run = false, .file = "benchmark_database.json",
    .text = [](const Report& report, const auto&) { return write_benchmark_database(report); });

TORCHSTONE_REPORT_WRITER(
    benchmark_action, .help = "For github-action-benchmark: smaller_is_better.json and bigger_is_better.json",
    .each_run = false, .files = [](const Report& report, const auto&) { return write_benchmark_action(report); });

}  // namespace torchstone::write
