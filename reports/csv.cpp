#include "reports/csv.h"

#include <cmath>

#include "reports/fields.h"
#include "reports/metric.h"
#include "reports/text.h"

namespace torchstone {
namespace {

std::string number_cell(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return exact(value);
}

}  // namespace

std::string csv_cell(const std::string& text) {
  const std::string clean = valid_utf8(text);
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

std::string write_wide_csv(const std::vector<Result>& results) {
  std::vector<std::string> header;
  for (const auto& field : text_fields()) header.emplace_back(field.key);
  for (const char* key : {"line", "batch_size", "duration_s", "finished", "as_expected", "status", "phase", "reason"}) {
    header.emplace_back(key);
  }
  for (const auto& metric : metric_table()) header.emplace_back(metric.key);
  std::string text = csv_line(header);
  for (const auto& result : results) {
    std::vector<std::string> cells;
    for (const auto& field : text_fields()) cells.push_back(result.*field.member);
    cells.push_back(std::to_string(result.line));
    cells.push_back(std::to_string(result.batch_size));
    cells.push_back(number_cell(result.duration_s));
    cells.emplace_back(result.finished ? "true" : "false");
    cells.emplace_back(result.as_expected() ? "true" : "false");
    cells.emplace_back(to_string(result.outcome.status));
    cells.push_back(result.outcome.phase);
    cells.push_back(result.outcome.reason);
    for (const auto& metric : metric_table()) {
      const auto found = result.outcome.metrics.find(std::string(metric.key));
      cells.push_back(found == result.outcome.metrics.end() ? "" : number_cell(found->second));
    }
    text += csv_line(cells);
  }
  return text;
}

}  // namespace torchstone
