#include "reports/judge/upstream_tables.h"

#include <algorithm>
#include <array>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/status.h>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/record/tables/upstream_csv.h"

namespace torchstone::judge {
namespace {

namespace fs = std::filesystem;

/// Words that have the same meaning anywhere in a file name, and the fields that they set.
const std::map<std::string_view, std::string> field_of_word = {
    {"torchbench", "suite"}, {"timm", "suite"},    {"huggingface", "suite"}, {"inference", "mode"},
    {"training", "mode"},    {"float32", "dtype"}, {"bfloat16", "dtype"},    {"float16", "dtype"},
    {"amp", "dtype"},        {"float64", "dtype"}, {"cpu", "device"},        {"cuda", "device"},
    {"mini", "preset"},      {"full", "preset"},   {"accuracy", "check"},    {"performance", "check"}};
constexpr std::array<std::string_view, 2> checks_of_ours = {"batch_invariance", "largest_batch"};
/// Words with which a backend's name begins. `aot` is not one: every case here compiles with Inductor ahead of time.
constexpr std::array<std::string_view, 3> backends = {"inductor", "eager", "torchscript"};

std::vector<std::string> split_stem(std::string_view stem) {
  std::vector<std::string> parts(1);
  for (const char c : stem) {
    if (c == '_' || c == '-' || c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

constexpr const char* table_kinds =
    "a table of benchmarks/dynamo: dev,name,batch_size,accuracy,…, dev,name,batch_size,speedup,… or "
    "name,accuracy,graph_breaks";

[[noreturn]] void refuse_table(const UpstreamTable& t, int line, const std::string& what) {
  throw ReportError(fmt::format("{}:{}: {}", t.table.file, line, what));
}

std::string shown_cell(const std::string& cell) { return cell.empty() ? "nothing" : shortened(printable(cell), 60); }

[[noreturn]] void refuse_cell(const UpstreamTable& t, const CsvRow& row, const char* column,
                              const std::string& expected) {
  refuse_table(t, row.line,
               fmt::format("{} of {}: expected {}, found {}", column, shown_cell(t.table.cell(row, "name")), expected,
                           shown_cell(t.table.cell(row, column))));
}

void require_number(const UpstreamTable& t, const CsvRow& row, const char* column) {
  const std::string& cell = t.table.cell(row, column);
  const bool is_empty_word = cell.empty() || cell == "nan" || cell == "inf";  // upstream's cells for "not measured"
  if (!is_empty_word && !parse_number(cell)) refuse_cell(t, row, column, "a number");
}

/// Refuses a file that was cut off, because its last line may have half a number.
void require_whole(const std::string& text, const UpstreamTable& t) {
  if (text.ends_with('\n')) return;
  const int last = t.table.rows.empty() ? 1 : t.table.rows.back().last_line;
  refuse_table(t, last, "the last line has no end: the file may be cut off (expected a line break)");
}

void require_rows(const UpstreamTable& t) {
  if (t.table.rows.empty()) refuse_table(t, 1, "only column names (expected a row for each model)");
  std::map<std::pair<std::string, std::string>, int> lines;  // (device, name) → line
  for (const auto& row : t.table.rows) {
    const std::string& name = t.table.cell(row, "name");
    if (name.empty()) refuse_table(t, row.line, "a row without a name (expected the name of a model)");
    const auto [first, is_new] = lines.try_emplace({t.table.cell(row, "dev"), name}, row.line);
    if (!is_new)
      refuse_table(t, row.line,
                   fmt::format("{} occurs twice, first in line {} (expected one row for each model)", shown_cell(name),
                               first->second));
    if (t.table.column("accuracy") && !parse_status(t.table.cell(row, "accuracy")))
      refuse_cell(t, row, "accuracy",
                  fmt::format("one of {}", fmt::join(status_table() | std::views::transform(&StatusInfo::name), ", ")));
    for (const char* column : {"speedup", "abs_latency", "compilation_latency", "compression_ratio"})
      require_number(t, row, column);
    for (const char* column : {"batch_size", "graph_breaks", "calls_captured", "unique_graphs", "fallbacks_to_eager"}) {
      require_number(t, row, column);
      if (parse_number(t.table.cell(row, column)).value_or(0) < 0) refuse_cell(t, row, column, "0 or more");
    }
  }
}

/// Sets the check according to the columns. Throws if the file name contradicts them.
void settle_check(UpstreamTable& t) {
  const bool accuracy = t.table.column("accuracy").has_value(), speedup = t.table.column("speedup").has_value();
  if (accuracy == speedup)
    refuse_table(t, 1,
                 fmt::format("{} (expected {})",
                             accuracy ? "both a column accuracy and a column speedup"
                                      : "neither a column accuracy nor a column speedup",
                             table_kinds));
  t.check = accuracy ? "accuracy" : "performance";
  const auto said = t.facts.find("check");
  if (said == t.facts.end()) return;
  if ((said->second == "performance") != speedup)
    refuse_table(t, 1, fmt::format("the file's name says {}, but its columns {}", said->second, t.check));
  t.check = said->second;
}

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

std::map<std::string, std::string> facts_in_name(std::string_view stem) {
  std::map<std::string, std::string> facts;
  std::string kept(stem);
  for (const auto check : checks_of_ours) {
    if (!kept.ends_with(check)) continue;
    facts["check"] = check;
    kept.resize(kept.size() - check.size());
  }
  std::string backend, before;
  for (const auto& part : split_stem(kept)) {
    if (const auto known = field_of_word.find(part); known != field_of_word.end()) {
      // "cpu_inductor_amp_freezing": a word of another field may separate a backend from its options.
      facts.try_emplace(known->second, part);
    } else if (part == "dynamic") {
      facts["dynamic"] = "batch";  // upstream's CI means --dynamic-batch-only
    } else if (part == "all" && before == "dynamic") {
      facts["dynamic"] = part;
    } else if (!backend.empty()) {
      if (part != "models" && !part.empty() && !facts.contains("mode")) backend += "_" + part;
    } else if (std::ranges::find(backends, part) != backends.end()) {
      const bool another = part == "eager" && (before == "aot" || before == "dynamo");
      backend = another ? before + "_" + part : part;
    }
    before = part;
  }
  if (!backend.empty()) facts["backend"] = backend;
  return facts;
}

bool is_upstream_table(const std::filesystem::path& path) {
  std::error_code ignored;
  return path.extension() == ".csv" && !std::filesystem::is_directory(path, ignored);
}

CsvTable read_models(const std::filesystem::path& path, const std::string& column) {
  const std::string text = read_at_most(path.string(), 64 * mebibyte);
  UpstreamTable t{parse_csv(text, path.string()), "", {}};
  if (!t.table.column(column)) return std::move(t.table);
  t.table.require_column("name");
  require_whole(text, t);
  if (!t.table.rows.empty()) require_rows(t);
  return std::move(t.table);
}

UpstreamTable read_upstream_table(const std::filesystem::path& path) {
  const std::string text = read_at_most(path.string(), 64 * mebibyte);
  UpstreamTable t{parse_csv(text, path.string()), "", facts_in_name(path.stem().string())};
  t.table.require_column("name");
  settle_check(t);
  require_whole(text, t);
  require_rows(t);
  if (!t.table.column("accuracy"))
    for (const auto& row : t.table.rows)
      if (t.table.cell(row, "speedup").empty()) refuse_cell(t, row, "speedup", "a number");
  if (!t.facts.empty()) t.facts.try_emplace("dynamic", "off");
  return t;
}

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

const CsvTable& find_counterpart(const CsvTable& actual, const std::vector<CsvTable>& expected) {
  if (expected.size() == 1) return expected.front();
  const auto found = std::ranges::find(expected, table_name(actual), table_name);
  if (found != expected.end()) return *found;
  const auto names = expected | std::views::transform(table_name);
  throw ReportError(fmt::format("no table of expected values for {} (expected one of {})", table_name(actual),
                                expected.empty() ? "no tables" : fmt::format("{}", fmt::join(names, ", "))));
}

std::vector<CsvTable> without_counterpart(const std::vector<CsvTable>& actual, const std::vector<CsvTable>& expected) {
  std::vector<CsvTable> missing;
  if (expected.size() == 1 && !actual.empty()) return missing;
  for (const auto& table : expected)
    if (std::ranges::find(actual, table_name(table), table_name) == actual.end()) missing.push_back(table);
  return missing;
}

}  // namespace torchstone::judge
