#include "reports/base/csv.h"

#include "reports/base/text.h"

namespace torchstone {

std::string csv_cell(const std::string& text) {
  std::string clean = valid_utf8(text);
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) line += (&cell == cells.data() ? "" : ",") + csv_cell(cell);
  return line + '\n';
}

}  // namespace torchstone
