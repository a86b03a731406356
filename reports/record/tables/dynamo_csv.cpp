#include "reports/record/tables/dynamo_csv.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/record/tables/upstream_csv.h"

namespace torchstone::tables {
namespace {

/// The rows of one table whose cases Dynamo compiled.
using DynamoRows = std::vector<TableRow>;

const DynamoFacts& facts_of(const TableRow& row) { return *row.result->outcome.dynamo; }

/// Returns the columns of the case, then the others.
std::string header_of(std::vector<std::string> columns, const std::set<std::string>& others) {
  columns.insert(columns.end(), others.begin(), others.end());
  return csv_line(columns);
}

std::string graph_breaks_of(const DynamoRows& rows) {
  std::string lines;
  for (const TableRow& row : rows)
    for (const GraphBreak& one : facts_of(row).graph_breaks)
      lines += csv_line({row.model, one.reason, fmt::format("{}", fmt::join(one.user_stack, ", "))});
  return lines.empty() ? "" : csv_line({"model", "reason", "user_stack"}) + lines;
}

std::string phases_of(const DynamoRows& rows) {
  std::set<std::string> phases;
  for (const TableRow& row : rows)
    for (const auto& [phase, seconds] : facts_of(row).phases_s) phases.insert(phase);
  if (phases.empty()) return "";
  std::string text = header_of({"dev", "name", "batch_size"}, phases);
  for (const TableRow& row : rows) {
    const auto& seconds = facts_of(row).phases_s;
    std::vector<std::string> cells{kind_of_device(row.result->device), row.model,
                                   std::to_string(row.result->batch_size)};
    for (const auto& phase : phases) {
      const auto found = seconds.find(phase);
      cells.push_back(fmt::format("{:.6f}", found == seconds.end() ? 0.0 : found->second));
    }
    text += csv_line(cells);
  }
  return text;
}

std::string frames_of(const DynamoRows& rows) {
  std::set<std::string> fields;
  for (const TableRow& row : rows)
    for (const auto& frame : facts_of(row).frames)
      for (const auto& [field, value] : frame) fields.insert(field);
  if (fields.empty()) return "";
  std::string text = header_of({"model"}, fields);
  for (const TableRow& row : rows)
    for (const auto& frame : facts_of(row).frames) {
      std::vector<std::string> cells{row.model};
      for (const auto& field : fields) {
        const auto found = frame.find(field);
        cells.push_back(found == frame.end() ? "" : found->second);
      }
      text += csv_line(cells);
    }
  return text;
}

}  // namespace

NamedTexts write_dynamo_csvs(const std::vector<Result>& results) {
  std::map<std::string, DynamoRows> tables;
  for (TableRow& row : rows_of_tables(results))
    if (row.result->outcome.dynamo) tables[row.table].push_back(std::move(row));
  NamedTexts files;
  const auto add = [&](const std::string& name, std::string text) {
    if (!text.empty()) files.emplace_back(case_file_name(name) + ".csv", std::move(text));
    require_few_tables(files.size());
  };
  for (const auto& [table, rows] : tables) {
    add(table + "_graph_breaks", graph_breaks_of(rows));
    if (rows.front().result->check == "performance") add(table + "_compilation_metrics", phases_of(rows));
    add(table + "_compiled_frames", frames_of(rows));
  }
  return files;
}

TORCHSTONE_REPORT_WRITER(
    dynamo, .help = "Graph breaks, phases and frames of Python modules, as tables of PyTorch's benchmarks/dynamo",
    .order = 610,
    .files = [](const Report& report, const auto&) { return below_csv(write_dynamo_csvs(report.results)); });

}  // namespace torchstone::tables
