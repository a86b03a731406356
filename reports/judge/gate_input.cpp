#include "reports/judge/gate_input.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/judge/upstream/upstream_table.h"
#include "reports/record/json.h"
#include "reports/results_folder/merge.h"
#include "reports/tables/upstream_csv.h"

namespace torchstone::judge {
namespace fs = std::filesystem;
namespace {

std::vector<CsvTable> tables_in_folder(const fs::path& folder, const std::string& column) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<CsvTable> tables;
  for (const auto& file : files) tables.push_back(read_models(file, column));
  return tables;
}

std::vector<CsvTable> tables_of_results(const fs::path& path) {
  std::vector<CsvTable> tables;
  const auto results = results_folder::merge_results({path}).report.results;
  for (const auto& [name, text] : tables::write_upstream_csvs(results, "", /*with_noise=*/true))
    tables.push_back(parse_csv(text, path.string() + ":" + name));
  return tables;
}

std::string table_name(const CsvTable& table) { return table.file.substr(table.file.find_last_of("/:") + 1); }

}  // namespace

std::vector<CsvTable> upstream_tables(const fs::path& path, const std::string& column) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored) && path.extension() == ".csv") {
    std::vector<CsvTable> tables{read_models(path, column)};
    tables.front().require_column(column);
    return tables;
  }
  const bool of_results =
      !fs::is_directory(path, ignored) || fs::exists(path / "results.json") || fs::exists(path / "cases");
  std::vector<CsvTable> tables = of_results ? tables_of_results(path) : tables_in_folder(path, column);
  std::erase_if(tables, [&](const CsvTable& table) { return !table.column(column); });
  return tables;
}

const CsvTable& counterpart_of(const CsvTable& actual, const std::vector<CsvTable>& expected) {
  if (expected.size() == 1) return expected.front();
  const auto found = std::ranges::find(expected, table_name(actual), table_name);
  if (found != expected.end()) return *found;
  std::vector<std::string> names;
  for (const auto& table : expected) names.push_back(table_name(table));
  throw ReportError(fmt::format("nothing is expected of {} (expected one of {})", table_name(actual),
                                names.empty() ? "no tables" : fmt::format("{}", fmt::join(names, ", "))));
}

std::vector<CsvTable> without_counterpart(const std::vector<CsvTable>& actual, const std::vector<CsvTable>& expected) {
  std::vector<CsvTable> missing;
  if (expected.size() == 1 && !actual.empty()) return missing;
  for (const auto& table : expected)
    if (std::ranges::find(actual, table_name(table), table_name) == actual.end()) missing.push_back(table);
  return missing;
}

}  // namespace torchstone::judge
