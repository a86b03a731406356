#include "reports/tables/operatorbench.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/report_writer.h>

#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/record/repetitions.h"
#include "reports/statistics/statistics.h"
#include "reports/tables/upstream_csv.h"

namespace torchstone::tables {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

using Group = std::pair<std::string, std::string>;  ///< suite, dtype

std::map<Group, std::vector<OperatorSpeedup>> grouped(const std::vector<Result>& results) {
  std::map<Group, std::vector<OperatorSpeedup>> groups;
  for (const auto& entry : operator_speedups(results)) groups[{entry.suite, entry.dtype}].push_back(entry);
  return groups;
}

std::string csv_of(const std::vector<OperatorSpeedup>& entries) {
  std::set<std::string> backends;
  std::map<std::string, std::map<std::string, const OperatorSpeedup*>> operators;
  for (const auto& entry : entries) {
    backends.insert(entry.backend);
    operators[entry.name][entry.backend] = &entry;
  }
  constexpr size_t most_backends = 300;  // times as many operators as there may be
  if (backends.size() > most_backends)
    throw ReportError(fmt::format("operators of suite {}, {}: {} backends, three columns each (expected at most {})",
                                  entries.front().suite, entries.front().dtype, backends.size(), most_backends));
  std::vector<std::string> header{"Operator"};
  for (const auto& backend : backends)
    for (const char* which : {"20th", "50th", "80th"}) header.push_back(backend + " " + which);
  std::string text = csv_line(header);
  for (const auto& [name, by_backend] : operators) {
    std::vector<std::string> row{name};
    for (const auto& backend : backends) {
      const auto found = by_backend.find(backend);
      const bool measured = found != by_backend.end() && found->second->inputs > 0;
      for (const auto member : {&Quantiles::low, &Quantiles::median, &Quantiles::high})
        row.push_back(measured ? fmt::format("{:.6f}", found->second->over_inputs.*member) : "");
    }
    text += csv_line(row);
  }
  return text;
}

std::string line_of(const OperatorSpeedup& entry) {
  const std::string failed = entry.failed == 0 ? "" : fmt::format(", {} failed", entry.failed);
  if (entry.inputs == 0) return fmt::format("{}: {} not measured{}", entry.name, entry.backend, failed);
  const auto& [low, median, high] = entry.over_inputs;
  return fmt::format("{}: {}={:.2f}x ({:.2f}-{:.2f}){}", entry.name, entry.backend, median, low, high, failed);
}

}  // namespace

bool is_of_an_operator(const Result& result) { return result.outcome.notes.contains("operator"); }

std::vector<OperatorSpeedup> operator_speedups(const std::vector<Result>& results) {
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, std::pair<std::vector<statistics::Weighted>, size_t>> found;
  for (const Result* result : one_of_each_name(results)) {
    if (result->check != "performance" || !is_of_an_operator(*result)) continue;
    const auto& metrics = result->outcome.metrics;
    auto& [speedups, failed] =
        found[{result->suite, result->dtype, result->outcome.notes.at("operator"), result->backend}];
    const auto speedup = metrics.find("speedup"), calls = metrics.find("logged_calls");
    if (speedup != metrics.end() && std::isfinite(speedup->second)) {
      const bool counted = calls != metrics.end() && calls->second > 0;
      speedups.push_back({speedup->second, counted ? calls->second : 1});
    } else if (info_of(result->outcome.status).junit != JUnitKind::skipped) {
      ++failed;
    }
  }
  std::vector<OperatorSpeedup> entries;
  for (const auto& [key, values] : found) {
    const auto& [suite, dtype, name, backend] = key;
    const auto& [speedups, failed] = values;
    OperatorSpeedup entry{
        suite, dtype, name, backend, speedups.size(), failed, 0, {none, none, none}, {none, none, none}};
    std::vector<double> once;
    for (const auto& [value, weight] : speedups) {
      once.push_back(value);
      entry.calls += weight;
    }
    if (!once.empty()) {
      entry.over_inputs = {statistics::quantile(once, 0.2), statistics::quantile(once, 0.5),
                           statistics::quantile(once, 0.8)};
      entry.over_calls = {weighted_quantile(speedups, 0.2), weighted_quantile(speedups, 0.5),
                          weighted_quantile(speedups, 0.8)};
    }
    entries.push_back(entry);
  }
  return entries;
}

NamedTexts write_operatorbench_csvs(const std::vector<Result>& results) {
  NamedTexts files;
  const auto groups = grouped(results);
  require_few_tables(groups.size());
  for (const auto& [group, entries] : groups)
    files.emplace_back(case_file_name(fmt::format("operatorbench_{}_{}", group.first, group.second)) + ".csv",
                       csv_of(entries));
  return files;
}

std::vector<std::string> operatorbench_lines(const std::vector<Result>& results) {
  std::vector<std::string> lines;
  for (const auto& [group, entries] : grouped(results)) {
    lines.push_back(fmt::format("Operators of {}, {}: speed-up, median over inputs (quantiles 0.2-0.8)", group.first,
                                group.second));
    for (const auto& entry : entries) lines.push_back("  " + line_of(entry));
  }
  return lines;
}

TORCHSTONE_REPORT_WRITER(
    operatorbench, .help = "The tables of PyTorch's operatorbench.py", .order = 800,
    .files = [](const Report& report, const auto&) { return below_csv(write_operatorbench_csvs(report.results)); });

}  // namespace torchstone::tables
