#include "reports/record/tables/upstream_csv.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/record/doubts.h"
#include "reports/record/summary.h"

// The tables of benchmarks/dynamo (common.py of August 2026), which its check_*.py, dashboards and spreadsheets read.

namespace torchstone::tables {
namespace {

/// Metrics that are counts. Their columns have the same names.
constexpr std::array counters = {"calls_captured",      "unique_graphs",     "fallbacks_to_eager", "graph_breaks",
                                 "unique_graph_breaks", "autograd_captures", "autograd_compiles",  "cudagraph_skips"};
const std::vector<NumberColumn> timings = {
    {"speedup", "speedup"},
    {"abs_latency", "compiled_ms"},
    {"compilation_latency", "compile_s"},
    {"compression_ratio", "compression_ratio"},
    {"eager_peak_mem", "eager_peak_mem", 1e-9, 6, "GB"},
    {"dynamo_peak_mem", "dynamo_peak_mem", 1e-9, 6, "GB"},
};

/// Whether tables of a check have a status column. Checks that upstream lacks have tables like those of accuracy.
bool has_statuses(const std::string& check) { return check != "performance" && check != "tolerance"; }

/// Returns the text of missing cells. Upstream fills the row of a run without any number with "0".
std::string filler_of(const Result& r) {
  const auto columns = number_columns(r.check);
  const bool ran =
      info_of(r.outcome.status).kind == StatusKind::passed ||
      std::ranges::any_of(columns, [&](const auto& column) { return metric_of(r, column.metric).has_value(); });
  return ran ? "" : "0";
}

std::string cell(const Result& result, const NumberColumn& column, const std::string& filler) {
  const auto value = metric_of(result, column.metric);
  return value ? fmt::format("{:.{}f}", *value * column.factor, column.decimals) : filler;
}

std::string file_stem(const Result& r) {
  const std::string dynamic = r.dynamic == "off"     ? ""
                              : r.dynamic == "batch" ? "dynamic_"
                                                     : "dynamic_" + word_of(r.dynamic) + "_";
  return fmt::format("{}_{}{}_{}_{}_{}", word_of(r.backend), dynamic, word_of(r.suite), word_of(r.dtype),
                     word_of(r.mode), word_of(kind_of_device(r.device)));
}

bool has_row(const Result& r) {
  if (has_statuses(r.check)) return true;
  if (r.check == "tolerance") return metric_of(r, "tolerance_max").has_value();
  return info_of(r.outcome.status).kind != StatusKind::skipped;
}

/// Returns upstream's name of the model.
std::string upstream_name(const Result& r) { return r.upstream_name.empty() ? r.model : r.upstream_name; }

std::vector<std::string> noise_cells(const Result& r) {
  const auto bound = [&](const char* metric) {
    const auto value = metric_of(r, metric);
    return value ? fmt::format("{}", *value) : "";
  };
  return {noisy_reason(r), bound("speedup_low"), bound("speedup_high")};
}

std::string row(const Result& r, const std::string& name, const std::string& tag, bool with_noise) {
  // In upstream's tables, models that did not load have batch size 0.
  const bool loaded = r.outcome.status != Status::model_fail_to_load && r.outcome.status != Status::eager_fail_to_run;
  std::vector<std::string> cells = {kind_of_device(r.device), name, loaded ? std::to_string(r.batch_size) : "0"};
  if (!tag.empty()) cells.push_back(tag);
  if (has_statuses(r.check)) cells.emplace_back(to_string(final_status(r)));
  const std::string filler = filler_of(r);
  for (const auto& column : number_columns(r.check)) cells.push_back(cell(r, column, filler));
  if (with_noise && r.check == "performance") std::ranges::copy(noise_cells(r), std::back_inserter(cells));
  return csv_line(cells);
}

std::string header(const std::string& check, const std::string& tag, bool with_noise) {
  std::vector<std::string> cells = {"dev", "name", "batch_size"};
  if (!tag.empty()) cells.emplace_back("tag");
  if (has_statuses(check)) cells.emplace_back("accuracy");
  for (const auto& column : number_columns(check)) cells.emplace_back(column.name);
  if (with_noise && check == "performance")
    cells.insert(cells.end(), {SpeedColumns::noisy, SpeedColumns::low, SpeedColumns::high});
  return csv_line(cells);
}

}  // namespace

std::vector<NumberColumn> number_columns(const std::string& check) {
  std::vector<NumberColumn> columns;
  if (check == "performance") columns = timings;
  if (check == "tolerance") return {{"max", "tolerance_max"}, {"mean", "tolerance_mean"}, {"std", "tolerance_std"}};
  for (const char* counter : counters) columns.push_back({counter, counter, 1, 0});
  if (has_statuses(check)) columns.push_back({"compilation_latency", "compile_s"});
  return columns;
}

std::string kind_of_device(const std::string& device) { return device.substr(0, device.find(':')); }

std::string word_of(const std::string& text) {
  constexpr std::string_view taken_for_granted = "=true";
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, taken_for_granted.size(), taken_for_granted) == 0) {
      at += taken_for_granted.size() - 1;
      continue;
    }
    const char c = text[at];
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += plain ? c : '_';
  }
  return out;
}

std::vector<TableRow> rows_of_tables(const std::vector<Result>& results) {
  const auto chosen = one_of_each_name(results);
  using Table = std::pair<std::string, std::string>;  // (stem, check)
  std::map<Table, std::set<std::string>> presets;
  std::map<std::pair<Table, std::string>, std::set<std::string>> models;  // by upstream's name
  for (const Result* result : chosen) {
    if (!has_row(*result)) continue;
    const Table table{file_stem(*result), result->check};
    presets[table].insert(result->preset);
    models[{table, upstream_name(*result)}].insert(result->model);
  }
  std::vector<TableRow> rows;
  for (const Result* result : chosen) {
    if (!has_row(*result)) continue;
    const std::string stem = file_stem(*result), upstream = upstream_name(*result);
    const bool apart = presets[{stem, result->check}].size() > 1;
    const bool is_alone = models[{{stem, result->check}, upstream}].size() == 1;
    rows.push_back({result, stem + (apart ? "_" + word_of(result->preset) : "") + "_" + result->check,
                    is_alone ? upstream : result->model});
  }
  return rows;
}

NamedTexts write_upstream_csvs(const std::vector<Result>& results, const std::string& tag, bool with_noise) {
  NamedTexts files;
  std::map<std::string, size_t> places;  // indices into `files`
  for (const auto& [result, table, model] : rows_of_tables(results)) {
    const std::string name = case_file_name(table) + ".csv";
    const auto [place, is_new] = places.emplace(name, files.size());
    if (is_new) files.emplace_back(name, header(result->check, tag, with_noise));
    require_few_tables(files.size());
    files[place->second].second += row(*result, model, tag, with_noise);
  }
  return files;
}

void require_few_tables(size_t count) {
  constexpr size_t most = 1000;
  if (count > most)
    throw ReportError(
        fmt::format("the results make more than {0} tables, one each of a backend, suite, dtype, mode, "
                    "device and check (expected at most {0})",
                    most));
}

NamedTexts below_csv(NamedTexts files) {
  for (auto& [name, text] : files) name.insert(0, "csv/");
  return files;
}

TORCHSTONE_REPORT_WRITER(
    upstream, .help = "The tables of PyTorch's benchmarks/dynamo", .order = 600,
    .files = [](const Report& report, const auto&) {
      return below_csv(write_upstream_csvs(report.results, report.run.tag));
    });

}  // namespace torchstone::tables
