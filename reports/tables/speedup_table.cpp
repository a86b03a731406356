#include "reports/tables/speedup_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "reports/record/noise.h"
#include "reports/record/summary.h"

namespace torchstone::tables {
namespace {

using Column = std::array<std::string, 6>;
using ModelName = std::pair<std::string, std::string>;  // of a suite

/// Said only beside dynamic ones.
const std::string fixed_sizes = "static";

Column column_of(const Result& r) {
  return {r.mode, r.dtype, r.backend, r.device, r.preset, r.dynamic == "off" ? fixed_sizes : "dynamic " + r.dynamic};
}

std::string cell_of(const Result& r) {
  const auto speedup = r.outcome.metrics.find("speedup");
  if (speedup != r.outcome.metrics.end()) return fmt::format("{:.2f}x{}", speedup->second, is_noisy(r) ? " noisy" : "");
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
    const bool said = !columns.front()[i].empty() && columns.front()[i] != fixed_sizes;
    if (same && said) add(parts.shared, columns.front()[i]);
    for (size_t j = 0; j < columns.size() && !same; ++j) add(parts.of_each[j], columns[j][i]);
  }
  return parts;
}

/// A page for people: beyond, a column or row is not read any more.
constexpr size_t most_columns = 100, most_cells = 100'000;

/// Of the columns' accuracy cases too: what gives wrong answers is left out.
std::vector<std::string> mean_cells(const std::vector<Result>& results, const std::map<Column, size_t>& places,
                                    size_t columns) {
  std::vector<std::vector<Result>> of_columns(columns);
  for (const auto& result : results) {
    const auto place = places.find(column_of(result));
    if (place != places.end() && place->second < columns) of_columns[place->second].push_back(result);
  }
  std::vector<std::string> cells;
  for (const auto& of_column : of_columns) {
    const Geomean mean = geomean_of(of_column);
    cells.push_back(mean.n == 0 ? ""
                                : fmt::format("{:.2f}x of {}{}", mean.value, mean.n,
                                              mean.noisy == 0 ? "" : fmt::format(", {} noisy", mean.noisy)));
  }
  return cells;
}

std::string left_out_words(size_t columns, size_t rows) {
  if (columns + rows == 0) return "";
  return fmt::format(". Too large for one table: {} further columns and {} further models are in results.csv", columns,
                     rows);
}

}  // namespace

std::optional<SuiteTable> speedup_table(const std::vector<Result>& results) {
  std::vector<Column> columns;
  std::map<Column, size_t> places;  // in columns
  std::map<ModelName, std::map<size_t, std::string>> models;
  for (const auto& result : results) {
    if (result.check != "performance") continue;
    const auto [place, is_new] = places.emplace(column_of(result), columns.size());
    if (is_new) columns.push_back(place->first);
    models[{result.suite, result.model}][place->second] = cell_of(result);
  }
  if (columns.size() < 2) return std::nullopt;
  const size_t all_columns = columns.size();
  columns.resize(std::min(all_columns, most_columns));
  const size_t most_rows = most_cells / columns.size();
  Parts parts = parts_of(columns);
  SuiteTable table{"Speed-up by model", "Eager's time over the compiled one's", {"Suite", "Model"}, 2, {}};
  if (!parts.shared.empty()) table.explanation += ": " + parts.shared;
  table.explanation += left_out_words(all_columns - columns.size(), models.size() - std::min(models.size(), most_rows));
  std::ranges::move(parts.of_each, std::back_inserter(table.header));
  for (const auto& [name, cells] : models) {
    if (table.rows.size() == most_rows) break;
    std::vector<std::string> row{name.first, name.second};
    for (size_t i = 0; i < columns.size(); ++i) row.push_back(cells.contains(i) ? cells.at(i) : "");
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back({"", "geometric mean"});
  std::ranges::move(mean_cells(results, places, columns.size()), std::back_inserter(table.rows.back()));
  return table;
}

}  // namespace torchstone::tables
