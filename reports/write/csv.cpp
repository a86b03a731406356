#include "reports/write/csv.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <torchstone/report_writer.h>

#include "reports/base/csv_format.h"
#include "reports/base/text.h"
#include "reports/record/fields.h"
#include "reports/record/metric.h"
#include "reports/record/run_verdict.h"

namespace torchstone::write {
namespace {

std::string number_cell(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return exact(value);
}

/// What is not known is 0 in a record.
std::string known_cell(int64_t value) { return value == 0 ? "" : std::to_string(value); }
std::string known_cell(double value) { return value == 0 ? "" : number_cell(value); }

struct WideColumn {
  std::string name;
  std::function<std::string(const Result&)> cell;
};

std::string yes_or_no(bool value) { return value ? "true" : "false"; }

/// What the case is and what became of it, then the metrics, then where it comes from.
std::vector<WideColumn> wide_columns() {
  std::vector<WideColumn> columns, origin;
  for (const auto& field : text_fields()) {
    const bool at_the_end = field.key == "reproduce" || field.key == "file" || field.key == "recorded";
    (at_the_end ? origin : columns).push_back({std::string(field.key), [&field](const Result& r) {
                                                 return r.*field.member;
                                               }});
  }
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
                         const auto found = r.outcome.metrics.find(key);
                         return found == r.outcome.metrics.end() ? "" : number_cell(found->second);
                       }});
  }
  columns.insert(columns.end(), origin.begin(), origin.end());
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
    const auto found = result.outcome.metrics.find("largest_batch");
    if (found == result.outcome.metrics.end()) continue;
    auto& size = sizes.try_emplace(result.model, found->second).first->second;
    size = std::min(size, found->second);
  }
  std::string text;
  for (const auto& [model, size] : sizes) text += csv_line({printable_line(model), fmt::format("{:.0f}", size)});
  return text;
}

TORCHSTONE_REPORT_WRITER(
    csv, .help = "A row for every case, a column for every fact and metric", .order = 400, .file = "results.csv",
    .text = [](const Report& report, const auto&) { return write_wide_csv(report.results); });

TORCHSTONE_REPORT_WRITER(
    batch_sizes, .help = "The largest batches found, as --torchstone_batch_size_file takes them", .order = 700,
    .file = "batch_sizes.txt",
    .text = [](const Report& report, const auto&) { return write_batch_sizes(report.results); });

}  // namespace torchstone::write
