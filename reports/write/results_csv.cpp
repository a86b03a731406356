#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/report_writer.h>

#include "reports/base/csv_format.h"
#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/result_json.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

std::string number_cell(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return exact(value);
}

/// Returns an empty cell for 0, which means "unknown" in a record.
std::string known_cell(int64_t value) { return value == 0 ? "" : std::to_string(value); }
std::string known_cell(double value) { return value == 0 ? "" : number_cell(value); }

struct WideColumn {
  std::string name;
  std::function<std::string(const Result&)> cell;
};

std::string yes_or_no(bool value) { return value ? "true" : "false"; }

/// Returns the columns of the case and its outcome, then the metrics, then how to run it and where it is declared.
std::vector<WideColumn> wide_columns() {
  std::vector<WideColumn> columns, last;
  for (const auto& field : text_fields()) {
    const bool at_the_end = field.key == "reproduce" || field.key == "file" || field.key == "recorded";
    (at_the_end ? last : columns).push_back({std::string(field.key), [&field](const Result& r) {
                                               return r.*field.member;
                                             }});
  }
  columns.push_back({"machine", [](const Result& r) { return r.machine; }});
  columns.push_back({"batch_size", [](const Result& r) { return known_cell(r.batch_size); }});
  columns.push_back({"status", [](const Result& r) { return std::string(to_string(r.outcome.status)); }});
  columns.push_back({"as_expected", [](const Result& r) { return yes_or_no(r.as_expected()); }});
  columns.push_back({"finished", [](const Result& r) { return yes_or_no(r.finished); }});
  columns.push_back({"phase", [](const Result& r) { return r.outcome.phase; }});
  columns.push_back({"reason", [](const Result& r) { return reason_of(r); }});
  columns.push_back({"duration_s", [](const Result& r) { return known_cell(r.duration_s); }});
  for (const auto& metric : metric_table()) {
    const std::string key(metric.key);
    columns.push_back({key, [key](const Result& r) {
                         const auto value = metric_of(r, key.c_str());
                         return value ? number_cell(*value) : "";
                       }});
  }
  columns.insert(columns.end(), last.begin(), last.end());
  columns.push_back({"line", [](const Result& r) { return known_cell(int64_t{r.line}); }});
  return columns;
}

}  // namespace

std::string write_wide_csv(const std::vector<Result>& results) {
  const auto columns = wide_columns();
  std::vector<std::string> cells;
  for (const auto& column : columns) cells.push_back(column.name);
  std::string text = csv_line(cells);
  for (const auto& result : results) {
    cells.clear();
    for (const auto& column : columns) cells.push_back(column.cell(result));
    text += csv_line(cells);
  }
  return text;
}

std::string write_batch_sizes(const std::vector<Result>& results) {
  std::map<std::string, double> sizes;
  for (const auto& result : results) {
    const auto largest = metric_of(result, "largest_batch");
    if (!largest) continue;
    auto& size = sizes.try_emplace(result.model, *largest).first->second;
    size = std::min(size, *largest);
  }
  std::string text;
  for (const auto& [model, size] : sizes) text += csv_line({printable_line(model), fmt::format("{:.0f}", size)});
  return text;
}

std::string write_summary_csv(const std::vector<Result>& results) {
  using Key = std::vector<std::string>;
  std::vector<std::pair<Key, std::vector<Result>>> groups;  // in order of first appearance
  std::map<Key, size_t> places;                             // indices into `groups`
  std::map<Key, std::vector<Result>> of_all_machines;       // a wrong answer on one machine excludes timings on all
  for (const auto& result : results) {
    Key key = {result.suite, result.backend, result.dtype, result.mode, result.device, result.preset, result.dynamic};
    if (!result.machine.empty()) of_all_machines[key].push_back(result);
    key.push_back(result.machine);
    const auto [place, is_new] = places.emplace(key, groups.size());
    if (is_new) groups.push_back({place->first, {}});
    groups[place->second].second.push_back(result);
  }
  std::string text =
      "suite,backend,dtype,mode,device,preset,dynamic,machine,accuracy_cases,pass_rate,speedup_cases,geomean_speedup,"
      "compile_cases,mean_compilation_latency,compression_cases,mean_compression_ratio,excluded,noisy_cases,"
      "detection_limits,median_detection_limit,worst_detection_limit,weak_passes\n";
  for (const auto& [key, members] : groups) {
    auto cells = key;
    const std::string& machine = key.back();
    const auto& all = machine.empty() ? members : of_all_machines.at({key.begin(), key.end() - 1});
    std::vector<std::string> excluded;
    for (const auto& [name, average] : {std::pair{"accuracy", pass_rate_of(members)},
                                        {"speed-up", geomean_of(all, machine)},
                                        {"compile", mean_of(all, "compile_s", machine)},
                                        {"compression", mean_of(all, "compression_ratio", machine)}}) {
      cells.push_back(std::to_string(average.n));
      cells.push_back(average.n == 0 ? "" : fmt::format("{:.6f}", average.value));
      if (!average.excluded.empty()) excluded.push_back(fmt::format("{}: {}", name, excluded_text(average)));
    }
    cells.push_back(fmt::format("{}", fmt::join(excluded, "; ")));
    cells.push_back(std::to_string(std::ranges::count_if(members, is_noisy)));
    const Detection limits = detection_of(members);
    cells.push_back(std::to_string(limits.n));
    for (const double limit : {limits.median, limits.worst})
      cells.push_back(limits.n == 0 ? "" : fmt::format("{:.6f}", limit));
    cells.push_back(std::to_string(limits.weak.size()));
    text += csv_line(cells);
  }
  return text;
}

TORCHSTONE_REPORT_WRITER(
    csv, .help = "A row for every case, a column for every fact and metric", .order = 400, .file = "results.csv",
    .text = [](const Report& report, const auto&) { return write_wide_csv(report.results); });

TORCHSTONE_REPORT_WRITER(
    batch_sizes, .help = "The largest batches found, as --torchstone_batch_size_file takes them", .order = 700,
    .file = "batch_sizes.txt",
    .text = [](const Report& report, const auto&) { return write_batch_sizes(report.results); });

TORCHSTONE_REPORT_WRITER(
    summary_csv, .help = "Pass rates and averages of each suite, backend, dtype, mode and device", .order = 500,
    .file = "summary.csv", .text = [](const Report& report, const auto&) { return write_summary_csv(report.results); });

}  // namespace torchstone::write
