#pragma once
#include <string>
#include <vector>

namespace torchstone {

/// One cell as RFC 4180 has it: quoted when it holds a comma, a quote or a line break.
std::string csv_cell(const std::string& text);
/// Cells joined by commas, with a newline.
std::string csv_line(const std::vector<std::string>& cells);

}  // namespace torchstone
