#pragma once
#include <optional>
#include <string>
#include <vector>

namespace torchstone {

/// Writes one cell as in RFC 4180, printable, and quoted when it holds a comma, a quote or a line break. A text
/// that a spreadsheet would take for a formula gets an apostrophe before it; numbers stay as they are. Source: OWASP,
/// "CSV Injection".
std::string csv_cell(const std::string& text);
/// Joins cells by commas and adds a newline.
std::string csv_line(const std::vector<std::string>& cells);

struct CsvRow {
  int line = 0, last_line = 0;     ///< 1-based; they differ if a quoted cell holds a line break
  std::vector<std::string> cells;  ///< as many as there are columns
};

/// The content of a CSV file.
struct CsvTable {
  std::string file;  ///< for messages
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  std::optional<size_t> column(const std::string& name) const;
  /// Returns the cell of a row; empty if the table lacks the column.
  const std::string& cell(const CsvRow& row, const std::string& name) const;
  /// Throws ReportError "file:1: expected a column …".
  size_t require_column(const std::string& name) const;
};

/// Parses RFC 4180 and what pandas accepts too: blank lines between rows, CRLF, a byte-order mark, and short rows
/// (their last cells are empty). Removes the apostrophe before a formula. Throws ReportError "file:line: expected …",
/// also for more than 64 MiB, 1000 columns, or 10 million cells.
CsvTable parse_csv(const std::string& text, const std::string& file);

}  // namespace torchstone
