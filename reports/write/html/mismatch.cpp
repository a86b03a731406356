#include "reports/write/html/mismatch.h"

#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/write/html/markup.h"

namespace torchstone::html {
namespace {

/// "  worst element       [0]: reference 1, result 2" → two cells; one cell when there are no columns.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (size_t at = line.find_first_not_of(' '); at != std::string::npos;) {
    const size_t gap = line.find("  ", at);
    cells.push_back(line.substr(at, gap == std::string::npos ? gap : gap - at));
    at = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
  }
  return cells;
}

std::string table_row(const std::vector<std::string>& cells, bool header) {
  std::string out = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    out += fmt::format("<{}>{}", i == 0 || header ? "th" : "td", escaped(cells[i]));
  }
  return out;
}

}  // namespace

std::string mismatch_tables(const std::string& report, size_t limit) {
  const std::string text = report.size() > limit ? shortened(valid_utf8(report), limit) : report;
  std::istringstream lines(text);
  std::string out;
  size_t columns = 0;  // of the table that is open
  const auto close = [&] {
    if (columns > 0) out += "</table>";
    columns = 0;
  };
  for (std::string line; std::getline(lines, line);) {
    const auto cells = cells_of(line);
    if (cells.empty()) continue;
    if (cells.size() == 1) {
      close();
      out += fmt::format("<p>{}</p>", escaped(cells[0]));
      continue;
    }
    const bool opens = cells.size() != columns;
    if (opens) {
      close();
      columns = cells.size();
      out += columns == 2 ? "<table class=\"kv tx\">" : "<table class=mm>";
    }
    out += table_row(cells, opens && columns > 2);
  }
  close();
  if (out.empty()) return "";
  return "<div class=mis><h3>Mismatch</h3>" + out + "</div>";
}

}  // namespace torchstone::html
