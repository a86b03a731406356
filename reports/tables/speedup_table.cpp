#include "reports/tables/speedup_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "reports/record/summary.h"

namespace torchstone::tables {
namespace {

using Column = std::array<std::string, 5>;
using ModelName = std::pair<std::string, std::string>;  // of a suite

Column column_of(const Result& r) { return {r.mode, r.dtype, r.backend, r.device, r.preset}; }

std::string cell_of(const Result& r) {
  const auto speedup = r.outcome.metrics.find("speedup");
  if (speedup != r.outcome.metrics.end()) return fmt::format("{:.2f}x", speedup->second);
  return std::string(to_string(final_status(r)));
}

struct Parts {
  std::string shared;
  std::vector<std::string> of_each;
};

Parts parts_of(const std::vector<Column>& columns) {
  Parts parts{"", std::vector<std::string>(columns.size())};
  const auto add = [](std::string& text, const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  for (size_t i = 0; i < Column{}.size(); ++i) {
    const bool same = std::ranges::all_of(columns, [&](const Column& c) { return c[i] == columns.front()[i]; });
    if (same && !columns.front()[i].empty()) add(parts.shared, columns.front()[i]);
    for (size_t j = 0; j < columns.size() && !same; ++j) add(parts.of_each[j], columns[j][i]);
  }
  return parts;
}

/// Of the column's accuracy cases too: what gives wrong answers is left out.
std::string mean_cell(const std::vector<Result>& results, const Column& column) {
  std::vector<Result> of_column;
  std::ranges::copy_if(results, std::back_inserter(of_column), [&](const Result& r) { return column_of(r) == column; });
  const Geomean mean = geomean_of(of_column);
  return mean.n == 0 ? "" : fmt::format("{:.2f}x of {}", mean.value, mean.n);
}

}  // namespace

std::optional<SuiteTable> speedup_table(const std::vector<Result>& results) {
  std::vector<Column> columns;
  std::map<ModelName, std::map<size_t, std::string>> models;
  for (const auto& result : results) {
    if (result.check != "performance") continue;
    const auto column = static_cast<size_t>(std::ranges::find(columns, column_of(result)) - columns.begin());
    if (column == columns.size()) columns.push_back(column_of(result));
    models[{result.suite, result.model}][column] = cell_of(result);
  }
  if (columns.size() < 2) return std::nullopt;
  Parts parts = parts_of(columns);
  SuiteTable table{"Speed-up by model", "Eager's time over the compiled one's", {"Suite", "Model"}, 2, {}};
  if (!parts.shared.empty()) table.explanation += ": " + parts.shared;
  std::ranges::move(parts.of_each, std::back_inserter(table.header));
  for (const auto& [name, cells] : models) {
    std::vector<std::string> row{name.first, name.second};
    for (size_t i = 0; i < columns.size(); ++i) row.push_back(cells.contains(i) ? cells.at(i) : "");
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back({"", "geometric mean"});
  for (const auto& column : columns) table.rows.back().push_back(mean_cell(results, column));
  return table;
}

}  // namespace torchstone::tables
