#pragma once
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

}  // namespace torchstone
