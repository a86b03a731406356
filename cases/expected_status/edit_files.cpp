// Rewrites expected-status files line by line: a line that no change concerns stays as it was.
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cases/expected_status/update_plan.h"
#include "reports/base/csv_format.h"
#include "reports/base/text.h"

namespace torchstone::expected_status {
namespace {

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_remark(const std::string& line) { return trimmed(line).empty() || trimmed(line).starts_with('#'); }

/// JSON's strings are YAML's.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// On one line when the entry that it replaces was.
std::string yaml_of(const Expectation& entry, bool one_line) {
  std::vector<std::pair<std::string, std::string>> parts;
  const bool plain = entry.name.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./") == std::string::npos;
  const bool whole_case = entry.name.find('/') != std::string::npos;
  parts.emplace_back(whole_case ? "name" : "model", plain ? entry.name : quoted(entry.name));
  for (const auto& [key, value] : entry.selectors)
    parts.emplace_back(key, value.find_first_of(":=, ") == std::string::npos ? value : quoted(value));
  parts.emplace_back("status", to_string(*entry.status));
  if (!entry.reason.empty()) parts.emplace_back("reason", quoted(entry.reason));
  if (!entry.issue.empty()) parts.emplace_back("issue", quoted(entry.issue));
  if (!entry.expires.empty()) parts.emplace_back("expires", entry.expires);
  std::string text = one_line ? "- {" : "- ";
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += one_line ? ", " : "\n  ";
    text += parts[i].first + ": " + parts[i].second;
  }
  return text + (one_line ? "}\n" : "\n");
}

std::string edited_yaml(const ExpectedFile& file, const std::string& text, const UpdatePlan& plan) {
  const auto lines = lines_in(text);
  std::vector<size_t> begins;  // of each entry's lines, 0-based
  for (const auto& entry : file.entries) {
    size_t line = static_cast<size_t>(entry.place.line) - 1;
    const size_t lowest = begins.empty() ? 0 : begins.back() + 1;
    while (line > lowest && line < lines.size() && !trimmed(lines[line]).starts_with('-')) --line;
    if (line < lowest || line >= lines.size() || !trimmed(lines[line]).starts_with('-'))
      fail(entry.place, "cannot be rewritten (expected each entry to begin with - on a line of its own)");
    begins.push_back(line);
  }
  std::string out;
  const auto copy = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if (!file.entries.empty() || trimmed(lines[i]) != "[]") out += lines[i] + "\n";
  };
  copy(0, begins.empty() ? lines.size() : begins.front());
  size_t kept = 0;
  for (size_t e = 0; e < begins.size(); ++e) {
    const size_t next = e + 1 < begins.size() ? begins[e + 1] : lines.size();
    size_t end = next;
    while (end > begins[e] + 1 && is_remark(lines[end - 1])) --end;
    const auto change = plan.entries.find(e);
    if (change == plan.entries.end())
      copy(begins[e], end);
    else if (change->second)
      out += yaml_of(*change->second, trimmed(lines[begins[e]]).find('{') != std::string::npos);
    kept += change == plan.entries.end() || change->second.has_value();
    copy(end, next);
  }
  for (const auto& entry : plan.added) out += yaml_of(entry, false);
  return kept + plan.added.size() == 0 ? out + "[]\n" : out;
}

std::string edited_csv(const ExpectedFile& file, const std::string& text, const UpdatePlan& plan) {
  if (text.empty()) {
    std::string out = csv_line({"name", "accuracy"});
    for (const auto& entry : plan.added) out += csv_line({entry.name, std::string(to_string(*entry.status))});
    return out;
  }
  const auto lines = lines_in(text);
  const CsvTable table = parse_csv(text, file.path);
  const size_t name = table.require_column("name"), accuracy = table.require_column("accuracy");
  const auto copy = [&](size_t from, size_t to) {
    std::string out;
    for (size_t i = from; i < to; ++i) out += lines[i] + "\n";
    return out;
  };
  std::string out;
  size_t done = 0;  // lines
  for (size_t e = 0; e < table.rows.size(); ++e) {
    const auto change = plan.entries.find(e);
    if (change == plan.entries.end()) continue;
    CsvRow row = table.rows[e];
    row.cells[accuracy] = to_string(change->second ? *change->second->status : Status::pass);
    out += copy(done, static_cast<size_t>(row.line) - 1) + csv_line(row.cells);
    done = static_cast<size_t>(row.last_line);
  }
  out += copy(done, lines.size());
  // Upstream keeps its rows apart, so that two changes do not conflict.
  const size_t n = table.rows.size();
  const int apart = n < 2 ? 0 : table.rows[n - 1].line - table.rows[n - 2].last_line - 1;
  for (const auto& entry : plan.added) {
    std::vector<std::string> cells(table.columns.size());
    cells[name] = entry.name;
    cells[accuracy] = to_string(*entry.status);
    out += (n > 0 ? std::string(static_cast<size_t>(apart), '\n') : "") + csv_line(cells);
  }
  return out;
}

}  // namespace

std::string edited(const ExpectedFile& file, const std::string& text, const UpdatePlan& plan) {
  return file.csv ? edited_csv(file, text, plan) : edited_yaml(file, text, plan);
}

}  // namespace torchstone::expected_status
