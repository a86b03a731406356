#pragma once
#include <optional>
#include <string>
#include <vector>

namespace torchstone {

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
/// short (their last cells are empty). An apostrophe before a formula is taken off (reports/base/csv.h). Throws
/// ReportError "file:line: expected …", also for more than 64 MiB, 1000 columns, or 10 million cells in rows of all
/// columns.
CsvTable parse_csv(const std::string& text, const std::string& file);
/// The same for a file.
CsvTable read_csv(const std::string& file);

}  // namespace torchstone
