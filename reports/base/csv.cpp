#include "reports/base/csv.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "reports/base/text.h"

namespace torchstone {
namespace {

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return parse_number(text) || text == "inf" || text == "-inf";
}

/// Whether it would be a formula without the apostrophes it begins with. Some spreadsheets take the wide forms too.
bool begins_formula(std::string_view text) {
  static constexpr std::array<std::string_view, 11> begins = {"=",  "+",  "-",  "@",  "\t", "\r",
                                                              "\n", "＝", "＋", "－", "＠"};
  text.remove_prefix(std::min(text.find_first_not_of('\''), text.size()));
  return std::ranges::any_of(begins, [&](std::string_view begin) { return text.starts_with(begin); });
}

}  // namespace

std::string csv_text(std::string cell) {
  if (cell.starts_with('\'') && begins_formula(cell)) cell.erase(0, 1);
  return cell;
}

std::string csv_cell(const std::string& text) {
  std::string clean = printable(text);
  if (begins_formula(clean) && !is_number(clean)) clean.insert(0, "'");
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
