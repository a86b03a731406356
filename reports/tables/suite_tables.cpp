#include "reports/tables/suite_tables.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "reports/tables/dynamic_table.h"
#include "reports/tables/fastrnns.h"
#include "reports/tables/operatorbench.h"
#include "reports/tables/speedup_table.h"

namespace torchstone::tables {
namespace {

std::vector<std::string> row_of(const OperatorSpeedup& entry) {
  std::vector<std::string> row{entry.name, entry.backend, fmt::format("{}", entry.inputs),
                               fmt::format("{}", entry.failed), fmt::format("{:.0f}", entry.calls)};
  const auto& [low, median, high] = entry.over_calls;
  for (const double value : {low, median, high}) row.push_back(entry.inputs == 0 ? "" : fmt::format("{:.2f}x", value));
  return row;
}

void add_operators(std::vector<SuiteTable>& tables, const std::vector<Result>& results) {
  for (const auto& entry : operator_speedups(results)) {
    const std::string title = fmt::format("Operators of {}, {}", entry.suite, entry.dtype);
    if (tables.empty() || tables.back().title != title) {
      tables.push_back({title,
                        "Speed-up over the inputs of each operator, every input weighed by its calls in the log",
                        {"Operator", "Backend", "Inputs", "Failed", "Calls", "20 %", "Median", "80 %"},
                        2,
                        {}});
    }
    tables.back().rows.push_back(row_of(entry));
  }
}

void add_runners(std::vector<SuiteTable>& tables, const std::vector<Result>& results) {
  SuiteTable table{"fastrnns",
                   "Milliseconds a call, mean and standard deviation over rounds",
                   {"Runner", "Group", "Forward", "±", "Backward", "±"},
                   2,
                   {}};
  for (const auto& runner : runner_times(results)) {
    std::vector<std::string> row{runner.name, runner.group};
    for (const auto& cell : runner_cells(runner)) row.push_back(cell == "nan" ? "" : cell);
    table.rows.push_back(std::move(row));
  }
  if (!table.rows.empty()) tables.push_back(std::move(table));
}

}  // namespace

std::vector<SuiteTable> suite_tables(const std::vector<Result>& results) {
  std::vector<SuiteTable> tables;
  std::vector<Result> of_models;
  std::ranges::remove_copy_if(results, std::back_inserter(of_models),
                              [](const Result& r) { return is_of_an_operator(r) || is_of_fastrnns(r); });
  if (auto table = speedup_table(of_models)) tables.push_back(std::move(*table));
  if (auto table = dynamic_table(results)) tables.push_back(std::move(*table));
  add_operators(tables, results);
  add_runners(tables, results);
  return tables;
}

}  // namespace torchstone::tables
