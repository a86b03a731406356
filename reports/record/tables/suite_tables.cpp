#include "reports/record/tables/suite_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/own_model.h"
#include "reports/record/summary.h"
#include "reports/record/tables/upstream_suites.h"
#include "reports/statistics/statistics.h"

namespace torchstone::tables {
namespace {

using Column = std::array<std::string, 7>;              // the last element is the machine
using ModelName = std::pair<std::string, std::string>;  // suite, model

/// Shown in the heading of a column only if other columns have dynamic sizes.
const std::string fixed_sizes = "static";

Column column_of(const Result& r) {
  return {r.mode,   r.dtype, r.backend, r.device, r.preset, r.dynamic == "off" ? fixed_sizes : "dynamic " + r.dynamic,
          r.machine};
}

std::string cell_of(const Result& r) {
  const auto speedup = metric_of(r, "speedup");
  if (is_unknown(r, "speedup")) return speedup_text(r, 2);
  return speedup ? fmt::format("{:.2f}x{}", *speedup, is_noisy(r) ? " noisy" : "")
                 : std::string(to_string(final_status(r)));
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

/// Size limits of a table: nobody reads a larger one.
constexpr size_t most_columns = 100, most_cells = 100'000;

/// Returns the geometric mean of each column. A wrong answer in the accuracy case, on any machine, excludes the
/// speed-up.
std::vector<std::string> mean_cells(const std::vector<Result>& results, const std::vector<Column>& columns) {
  const auto without_machine = [](Column column) {
    column.back().clear();
    return column;
  };
  std::map<Column, std::vector<Result>> of_columns;
  for (const auto& result : results) of_columns[without_machine(column_of(result))].push_back(result);
  std::vector<std::string> cells;
  for (const auto& column : columns) {
    const Geomean mean = geomean_of(of_columns[without_machine(column)], column.back());
    cells.push_back(mean.n == 0 ? ""
                                : fmt::format("{:.2f}x of {}{}", mean.value, mean.n,
                                              mean.noisy == 0 ? "" : fmt::format(", {} noisy", mean.noisy)));
  }
  return cells;
}

std::string excluded_text(size_t columns, size_t rows) {
  if (columns + rows == 0) return "";
  return fmt::format(". Too large for one table: {} further columns and {} further models are in results.csv", columns,
                     rows);
}

constexpr std::array series_of = {
    std::pair{"dynamic_batch", &DynamicTiming::batch},
    std::pair{"dynamic_eager_ms", &DynamicTiming::eager_ms},
    std::pair{"dynamic_ms", &DynamicTiming::dynamic_ms},
    std::pair{"static_ms", &DynamicTiming::static_ms},
    std::pair{"dynamic_speedup", &DynamicTiming::speedup},
    std::pair{"dynamic_speedup_low", &DynamicTiming::speedup_low},
    std::pair{"dynamic_speedup_high", &DynamicTiming::speedup_high},
    std::pair{"dynamic_cost", &DynamicTiming::cost},
    std::pair{"dynamic_cost_low", &DynamicTiming::cost_low},
    std::pair{"dynamic_cost_high", &DynamicTiming::cost_high},
};

/// Row limit: nobody reads longer tables.
constexpr size_t most_rows = 2000;

/// Returns a ratio with its interval, marked noisy if the interval is too wide or the case is noisy.
std::string with_interval(double value, double low, double high, bool noisy_case = false) {
  const bool says_little = noisy_case || statistics::is_too_wide(value, low, high);
  return ratio_text(value, low, high, 3) + (says_little && !statistics::says_nothing(low, high) ? " noisy" : "");
}

/// Collects the ratios above 0 for their geometric mean.
struct Ratios {
  std::vector<double> values{};
  size_t noisy = 0;

  void add(double value, bool is_noisy = false) {
    if (!std::isfinite(value) || value <= 0) return;
    values.push_back(value);
    noisy += is_noisy;
  }
};

/// Whether the case is about a Python module. No mean combines Python modules with native models.
bool is_of_python_module(const Result& result) { return value_in(result.outcome.notes, "subject") == "python"; }

void add_rows(const Result& result, SuiteTable& table) {
  for (const auto& at : dynamic_timings(result)) {
    if (table.rows.size() == most_rows) return;
    table.rows.push_back({result.model, run_words(result), at.sizes, fmt::format("{:.4g} ms", at.eager_ms),
                          fmt::format("{:.4g} ms", at.dynamic_ms), fmt::format("{:.4g} ms", at.static_ms),
                          with_interval(at.speedup, at.speedup_low, at.speedup_high, is_noisy(result)),
                          fmt::format("{:.3f}x", at.static_speedup()),
                          with_interval(at.cost, at.cost_low, at.cost_high)});
  }
}

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

std::string run_words(const Result& r) {
  return fmt::format("{} {} {} {}{}{}", r.mode, r.dtype, r.backend, r.device, r.preset.empty() ? "" : " ", r.preset);
}

std::optional<SuiteTable> speedup_table(const std::vector<Result>& results) {
  std::vector<Column> columns;
  std::map<Column, size_t> places;  // indices into `columns`
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
  table.explanation += excluded_text(all_columns - columns.size(), models.size() - std::min(models.size(), most_rows));
  std::ranges::move(parts.of_each, std::back_inserter(table.header));
  for (const auto& [name, cells] : models) {
    if (table.rows.size() == most_rows) break;
    std::vector<std::string> row{name.first, name.second};
    for (size_t i = 0; i < columns.size(); ++i) row.push_back(cells.contains(i) ? cells.at(i) : "");
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back({"", "geometric mean"});
  std::ranges::move(mean_cells(results, columns), std::back_inserter(table.rows.back()));
  return table;
}

std::vector<DynamicTiming> dynamic_timings(const Result& result) {
  std::vector<DynamicTiming> timings(samples_of(result, series_of[0].first).size());
  for (const auto& [name, member] : series_of) {
    const auto& series = samples_of(result, name);
    if (series.size() != timings.size()) return {};
    for (size_t i = 0; i < timings.size(); ++i) timings[i].*member = series[i];
  }
  const auto& sizes = result.outcome.timed_sizes;
  for (size_t i = 0; i < timings.size(); ++i)
    timings[i].sizes = sizes.size() == timings.size() ? sizes[i] : fmt::format("{:.0f}", timings[i].batch);
  return timings;
}

std::optional<SuiteTable> dynamic_table(const std::vector<Result>& results) {
  SuiteTable table{
      "Dynamic sizes",
      "One program for all batches, or all sizes, at some of them, compared with eager and a program compiled "
      "for these alone; the cost of being dynamic is its time over the static one's",
      {"Model", "Run", "Batch or sizes", "Eager", "Dynamic", "Static", "Speed-up, dynamic", "Speed-up, static",
       "Cost of being dynamic"},
      2,
      {}};
  Ratios cost, compile, speedup;
  std::set<std::string> machines;
  for (const auto& result : results) {
    if (result.dynamic == "off" || dynamic_timings(result).empty()) continue;
    add_rows(result, table);
    if (is_of_python_module(result)) continue;
    machines.insert(result.machine);
    const auto metric = [&](const char* name) { return metric_of(result, name).value_or(0); };
    const auto low = metric_of(result, "dynamic_cost_low"), high = metric_of(result, "dynamic_cost_high");
    if (!is_unknown(result, "dynamic_cost"))
      cost.add(metric("dynamic_cost"), low && high && statistics::is_too_wide(metric("dynamic_cost"), *low, *high));
    if (!is_unknown(result, "speedup")) speedup.add(metric("speedup"), is_noisy(result));
    if (metric("static_compile_s") > 0 && metric("compile_s") > 0)
      compile.add(metric("compile_s") / metric("static_compile_s"));
  }
  if (table.rows.empty()) return std::nullopt;
  if (are_of_own_model(results)) return table;  // means over one model's backends and modes are meaningless
  if (speedup.values.empty() && cost.values.empty()) return table;
  if (machines.size() > 1) return table;  // means never combine machines
  const auto mean = [](const Ratios& of) {
    return of.values.empty() ? ""
                             : fmt::format("{:.3f}x of {}{}", statistics::geometric_mean(of.values), of.values.size(),
                                           of.noisy == 0 ? "" : fmt::format(", {} noisy", of.noisy));
  };
  table.rows.push_back(
      {"", "geometric mean, at the sizes compiled for", "", "", "", "", mean(speedup), "", mean(cost)});
  if (!compile.values.empty())
    table.rows.push_back(
        {"", "geometric mean of compile time, dynamic / static", "", "", "", "", "", "", mean(compile)});
  return table;
}

std::vector<SuiteTable> suite_tables(const std::vector<Result>& results) {
  std::vector<SuiteTable> tables;
  std::vector<Result> of_models;
  std::ranges::remove_copy_if(results, std::back_inserter(of_models),
                              [](const Result& r) { return is_of_an_operator(r) || is_of_fastrnns(r); });
  // Reports on the user's own model have a sentence for each backend and mode instead of speed-ups by model.
  if (auto table = are_of_own_model(results) ? std::nullopt : speedup_table(of_models))
    tables.push_back(std::move(*table));
  if (auto table = dynamic_table(results)) tables.push_back(std::move(*table));
  add_operators(tables, results);
  add_runners(tables, results);
  if (auto table = dashboard_marks(of_models)) tables.push_back(std::move(*table));
  return tables;
}

}  // namespace torchstone::tables
