#include "reports/base/csv_format.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/base/text.h"

namespace torchstone {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return parse_number(text) || text == "inf" || text == "-inf";
}

/// Whether a spreadsheet would take the text, without apostrophes at its start, for a formula. Some accept full-width
/// characters too.
bool begins_formula(std::string_view text) {
  static constexpr std::array<std::string_view, 11> begins = {"=",  "+",  "-",  "@",  "\t", "\r",
                                                              "\n", "＝", "＋", "－", "＠"};
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  return std::ranges::any_of(begins, [&](std::string_view begin) { return text.starts_with(begin); });
}

/// Returns the text of a cell that csv_cell wrote, without the apostrophe before a formula.
std::string csv_text(std::string cell) {
  if (cell.starts_with('\'') && begins_formula(cell)) cell.erase(0, 1);
  return cell;
}

constexpr size_t max_bytes = 64 * mebibyte, max_columns = 1000, max_cells = 10'000'000;

[[noreturn]] void refuse(const std::string& file, int line, const std::string& what) {
  throw ReportError(fmt::format("{}:{}: {}", file, line, what));
}

std::string excerpt(const std::string& text) { return shortened(printable(text), 60); }

/// Reads rows and counts lines.
class Reader {
 public:
  Reader(const std::string& text, const std::string& file) : text_(text), file_(file) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  /// Returns false at the end of the text.
  bool next(CsvRow& row) {
    while (at_ < text_.size() && at_line_end()) end_line();
    if (at_ >= text_.size()) return false;
    row = {line_, line_, {}};
    do {
      if (row.cells.size() == max_columns)
        refuse(file_, row.line,
               fmt::format("more than {} cells (expected at most {} columns)", max_columns, max_columns));
      row.cells.push_back(csv_text(cell()));
    } while (take(','));
    row.last_line = line_;
    if (at_ < text_.size() && !at_line_end())
      refuse(file_, line_, "something follows a quoted cell (expected a comma or the end of the line)");
    end_line();
    return true;
  }

 private:
  bool at_line_end() const {
    return text_[at_] == '\n' || (text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
  }
  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string cell() {
    if (take('"')) return quoted();
    std::string out;
    for (; at_ < text_.size() && text_[at_] != ',' && !at_line_end(); ++at_) {
      if (text_[at_] == '\0') refuse(file_, line_, "a NUL byte (expected text)");
      out += text_[at_];
    }
    return out;
  }
  std::string quoted() {
    const int opened = line_;
    std::string out;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"' && (++at_ >= text_.size() || text_[at_] != '"')) return out;
      line_ += text_[at_] == '\n';
      out += text_[at_];
    }
    refuse(file_, opened, "a quoted cell without an end (expected a closing \")");
  }

  const std::string& text_;
  const std::string& file_;
  size_t at_ = 0;
  int line_ = 1;
};

}  // namespace

std::string csv_cell(const std::string& text) {
  std::string clean = printable(text);
  if (begins_formula(clean) && !is_number(clean)) clean.insert(0, "'");
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  return '"' + substituted(clean, {{'"', "\"\""}}) + '"';
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += (&cell == cells.data() ? "" : ",") + csv_cell(cell);
  return line + '\n';
}

std::optional<size_t> CsvTable::column(const std::string& name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<size_t>(found - columns.begin());
}

const std::string& CsvTable::cell(const CsvRow& row, const std::string& name) const {
  static const std::string nothing;
  const auto index = column(name);
  return index ? row.cells[*index] : nothing;
}

size_t CsvTable::require_column(const std::string& name) const {
  if (const auto index = column(name)) return *index;
  refuse(file, 1,
         fmt::format("expected a column {}, found {}", name, excerpt(fmt::format("{}", fmt::join(columns, ",")))));
}

CsvTable parse_csv(const std::string& text, const std::string& file) {
  if (text.size() > max_bytes)
    throw ReportError(fmt::format("{}: {} bytes (expected at most {})", file, text.size(), max_bytes));
  CsvTable table{file, {}, {}};
  Reader reader(text, file);
  CsvRow row;
  if (!reader.next(row)) throw ReportError(file + ": the file is empty (expected a line of column names)");
  table.columns = row.cells;
  std::set<std::string_view> seen;
  for (const auto& column : table.columns) {
    if (!seen.insert(column).second)
      refuse(file, row.line, fmt::format("the column {} is there twice", excerpt(column)));
  }
  const size_t max_rows = max_cells / table.columns.size();
  while (reader.next(row)) {
    if (row.cells.size() > table.columns.size())
      refuse(file, row.line,
             fmt::format("{} cells (expected at most {}, one a column)", row.cells.size(), table.columns.size()));
    if (table.rows.size() == max_rows)
      refuse(file, row.line,
             fmt::format("more than {} rows of {} columns (expected at most {} cells)", max_rows, table.columns.size(),
                         max_cells));
    row.cells.resize(table.columns.size());
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace torchstone
