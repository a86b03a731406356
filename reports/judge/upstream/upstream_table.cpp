#include "reports/judge/upstream/upstream_table.h"

#include <map>

#include <fmt/format.h>
#include <torchstone/status.h>

#include "reports/base/files.h"
#include "reports/base/text.h"

namespace torchstone::judge {
namespace {

constexpr const char* table_kinds =
    "a table of benchmarks/dynamo: dev,name,batch_size,accuracy,…, dev,name,batch_size,speedup,… or "
    "name,accuracy,graph_breaks";

[[noreturn]] void refuse_table(const UpstreamTable& t, int line, const std::string& what) {
  throw ReportError(fmt::format("{}:{}: {}", t.table.file, line, what));
}

std::string shown_cell(const std::string& cell) { return cell.empty() ? "nothing" : shortened(printable(cell), 60); }

std::string known_statuses() {
  std::string words;
  for (const auto& info : status_table()) words += (words.empty() ? "" : ", ") + std::string(info.name);
  return words;
}

void require_status(const UpstreamTable& t, const CsvRow& row) {
  const std::string& status = t.cell(row, "accuracy");
  if (!parse_status(status))
    refuse_table(t, row.line,
                 fmt::format("accuracy of {}: expected one of {}, found {}", shown_cell(t.cell(row, "name")),
                             known_statuses(), shown_cell(status)));
}

void require_number(const UpstreamTable& t, const CsvRow& row, const char* column) {
  const std::string& cell = t.cell(row, column);
  const bool is_empty_word = cell.empty() || cell == "nan" || cell == "inf";  // upstream's, where nothing was measured
  if (!is_empty_word && !parse_number(cell))
    refuse_table(t, row.line,
                 fmt::format("{} of {}: expected a number, found {}", column, shown_cell(t.cell(row, "name")),
                             shown_cell(cell)));
}

void require_count(const UpstreamTable& t, const CsvRow& row, const char* column) {
  require_number(t, row, column);
  const auto number = parse_number(t.cell(row, column));
  if (number && *number < 0)
    refuse_table(t, row.line,
                 fmt::format("{} of {}: expected 0 or more, found {}", column, shown_cell(t.cell(row, "name")),
                             shown_cell(t.cell(row, column))));
}

void require_speedups(const UpstreamTable& t) {
  for (const auto& row : t.table.rows)
    if (t.cell(row, "speedup").empty())
      refuse_table(t, row.line,
                   fmt::format("speedup of {}: expected a number, found nothing", shown_cell(t.cell(row, "name"))));
}

/// The line of a file that was cut off says half a number or half a word.
void require_whole(const std::string& text, const UpstreamTable& t) {
  if (text.ends_with('\n')) return;
  const int last = t.table.rows.empty() ? 1 : t.table.rows.back().last_line;
  refuse_table(t, last, "the last line has no end: the file may be cut off (expected a line break)");
}

void require_rows(const UpstreamTable& t) {
  if (t.table.rows.empty()) refuse_table(t, 1, "there are only column names (expected a row for each model)");
  std::map<std::pair<std::string, std::string>, int> lines;  // (device, name) → line
  for (const auto& row : t.table.rows) {
    const std::string& name = t.cell(row, "name");
    if (name.empty()) refuse_table(t, row.line, "a row without a name (expected that of a model)");
    const auto [first, is_new] = lines.try_emplace({t.cell(row, "dev"), name}, row.line);
    if (!is_new)
      refuse_table(t, row.line,
                   fmt::format("{} is there twice, in line {} too (expected one row for each model)", shown_cell(name),
                               first->second));
    if (t.table.column("accuracy")) require_status(t, row);
    for (const char* column : {"speedup", "abs_latency", "compilation_latency", "compression_ratio"})
      require_number(t, row, column);
    for (const char* column : {"batch_size", "graph_breaks", "calls_captured", "unique_graphs", "fallbacks_to_eager"})
      require_count(t, row, column);
  }
}

/// The columns say which check it is, and the name must not say another one.
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
    refuse_table(t, 1, fmt::format("the file's name says {}, its columns {}", said->second, t.check));
  t.check = said->second;
}

}  // namespace

const std::string& UpstreamTable::cell(const CsvRow& row, const std::string& column) const {
  static const std::string nothing;
  const auto index = table.column(column);
  return index ? row.cells[*index] : nothing;
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
  if (!t.table.column("accuracy")) require_speedups(t);
  if (!t.facts.empty()) t.facts.try_emplace("dynamic", "off");  // a name that says what it is would say dynamic
  return t;
}

}  // namespace torchstone::judge
