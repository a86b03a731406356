#pragma once
#include <optional>
#include <string>
#include <vector>

namespace torchstone {

/// One cell as RFC 4180 has it, printable: quoted when it holds a comma, a quote or a line break. A text that a
/// spreadsheet would take for a formula gets an apostrophe before it; numbers stay as they are. Source: OWASP, "CSV
/// Injection".
std::string csv_cell(const std::string& text);
/// The text of a cell that csv_cell wrote, without that apostrophe.
std::string csv_text(std::string cell);
/// Cells joined by commas, with a newline.
std::string csv_line(const std::vector<std::string>& cells);

struct CsvRow {
  int line = 0, last_line = 0;     ///< 1-based; several when a quoted cell holds a line break
  std::vector<std::string> cells;  ///< as many as there are columns
};

/// A CSV file as it was written.
struct CsvTable {
  std::string file;  ///< for messages
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;

  std::optional<size_t> column(const std::string& name) const;
  /// Throws ReportError "file:1: expected a column …".
  size_t require_column(const std::string& name) const;
};

/// Reads RFC 4180 and what pandas takes besides: blank lines between rows, CRLF, a byte-order mark, rows that are too
/// short (their last cells are empty). An apostrophe before a formula is taken off. Throws
/// ReportError "file:line: expected …", also for more than 64 MiB, 1000 columns, or 10 million cells in rows of all
/// columns.
CsvTable parse_csv(const std::string& text, const std::string& file);
/// The same for a file.
CsvTable read_csv(const std::string& file);

}  // namespace torchstone
