#include "tests/unit/reports/format_checks.h"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone {
namespace {

std::string around(const std::string& text, size_t at) { return printable(text.substr(at < 40 ? 0 : at - 40, 100)); }

/// Returns the text without blocks and spans of code.
std::string without_code(const std::string& text) {
  std::string prose, fence;
  for (const auto& line : text_lines(text)) {
    const size_t ticks = std::min(line.find_first_not_of('`'), line.size());
    if (!fence.empty()) {
      if (ticks >= fence.size() && ticks == line.size()) fence.clear();
    } else if (ticks >= 3) {
      fence.assign(ticks, '`');
    } else {
      prose += line + "\n";
    }
  }
  std::string out;
  for (size_t i = 0; i < prose.size();) {
    if (prose[i] == '\\') {
      out += prose.substr(i, 2);
      i += 2;
    } else if (prose[i] == '`') {
      const size_t ticks = prose.find_first_not_of('`', i) - i;
      size_t end = i + ticks;
      for (size_t run = 0; end < prose.size(); end += std::max<size_t>(run, 1)) {
        run = prose[end] == '`' ? prose.find_first_not_of('`', end) - end : 0;
        if (run == ticks) break;
      }
      i = std::min(end + ticks, prose.size());
    } else {
      out += prose[i++];
    }
  }
  return out;
}

size_t cells_in(const std::string& row) {
  size_t pipes = 0;
  for (size_t i = 0; i < row.size(); ++i) pipes += row[i] == '|' && (i == 0 || row[i - 1] != '\\');
  return pipes;
}

}  // namespace

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string fault_of_bytes(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const size_t size = utf8_size(text, i);
    if (size == 0) return "broken UTF-8 in " + around(text, i);
    const std::string c = text.substr(i, size);
    const bool control = (size == 1 && (c[0] < ' ' || c[0] == '\x7f') && c != "\n" && c != "\t") ||
                         (c >= "\u0080" && c <= "\u009f" && size == 2);
    const bool turns = (c >= "\u202a" && c <= "\u202e") || (c >= "\u2066" && c <= "\u2069") || c == "\u200e" ||
                       c == "\u200f" || c == "\u061c";
    if (control || turns) return fmt::format("byte {:02x} in {}", static_cast<unsigned char>(c[0]), around(text, i));
    i += size;
  }
  return "";
}

std::string fault_of_log(const std::string& text) {
  if (auto fault = fault_of_bytes(text); !fault.empty()) return fault;
  for (const auto& line : text_lines(text)) {
    if (trimmed(line).starts_with("::")) return "a workflow command: " + line;
    for (const char* begin : {"##[", "##vso["})
      if (line.find(begin) != std::string::npos) return "a command of a CI service: " + line;
  }
  return "";
}

std::string fault_of_xml(const std::string& text, const std::set<std::string>& elements) {
  if (auto fault = fault_of_bytes(text); !fault.empty()) return fault;
  static const std::regex markup(
      R"re(<\?xml [^<>]*\?>|<(/?)([A-Za-z-]+)((?: [A-Za-z]+="[^"<>]*")*)(/?)>|[<>]|&[^;&<> ]{0,8};?)re");
  std::vector<std::string> open;
  for (std::sregex_iterator it(text.begin(), text.end(), markup), end; it != end; ++it) {
    const std::string found = it->str(), name = (*it)[2];
    const auto where = [&] { return around(text, static_cast<size_t>(it->position())); };
    if (found.starts_with("<?")) continue;
    if (found.starts_with('&')) {
      if (!std::regex_match(found, std::regex("&(amp|lt|gt|quot|apos|#[0-9]+);"))) return "a raw & in " + where();
      continue;
    }
    if (name.empty()) return "raw markup in " + where();
    if (!elements.contains(name)) return "an element " + name + " in " + where();
    if ((*it)[1].length() == 0 && (*it)[4].length() == 0) open.push_back(name);
    if ((*it)[1].length() == 0) continue;
    if (open.empty() || open.back() != name) return "a wrong end of " + name + " in " + where();
    open.pop_back();
  }
  return open.empty() ? "" : "no end of " + open.back();
}

std::set<std::string> elements_of_page(const std::string& text) {
  static const std::regex attribute(R"re(\s*([^\s=/]+)(=("[^"]*"|[^\s"]+))?)re");
  std::set<std::string> elements;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const size_t end_of_name = text.find_first_of(" \n/>", at + 1);
    if (at + 1 >= text.size() || std::string_view(" =/").find(text[at + 1]) != std::string_view::npos) continue;
    std::string element = text.substr(at + 1, end_of_name - at - 1);
    size_t end = end_of_name;  // position of the first > outside of quotes
    for (bool quoted = false; end < text.size() && (quoted || text[end] != '>'); ++end) quoted ^= text[end] == '"';
    const std::string rest = text.substr(end_of_name, end - end_of_name);
    if (rest.size() > 100'000) {  // the embedded data
      elements.insert(element + " …");
      continue;
    }
    std::set<std::string> names;
    for (std::sregex_iterator it(rest.begin(), rest.end(), attribute), last; it != last; ++it) names.insert((*it)[1]);
    for (const auto& name : names) element += " " + name;
    elements.insert(element);
    if (element == "script" || element == "style") at = text.find("</" + element, at) - 1;
  }
  return elements;
}

std::string fault_of_markdown(const std::string& text) {
  if (auto fault = fault_of_bytes(text); !fault.empty()) return fault;
  size_t cells = 0;  // cells per row of the current table
  for (const auto& line : text_lines(text)) {
    const bool in_table = line.starts_with('|');
    if (in_table && cells > 0 && cells_in(line) != cells) return "another number of cells: " + line;
    cells = in_table ? cells_in(line) : 0;
    if (line.find("<summary>") != std::string::npos && line.find("</summary>") == std::string::npos)
      return "a summary without an end: " + line;
  }
  const std::string prose = without_code(text);
  static const std::regex live(
      R"re(<(?!/?(details|summary|br)>|!-- torchstone -->)|(^|[^\\])\]\(|(^|[^\\])!\[|www\.|://|@[A-Za-z]|#[0-9A-Za-z])re");
  std::smatch found;
  const std::string numbered = std::regex_replace(prose, std::regex("&#[0-9]+;"), " ");
  return std::regex_search(numbered, found, live) ? "live: " + around(numbered, static_cast<size_t>(found.position()))
                                                  : "";
}

std::vector<std::vector<std::string>> raw_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (c == '\n' && !quoted)
      rows.emplace_back(1);
    else if (c == ',' && !quoted)
      rows.back().emplace_back();
    else if (c != '"')
      rows.back().back() += c;
  }
  rows.pop_back();
  return rows;
}

std::string fault_of_csv(const std::string& text) {
  if (auto fault = fault_of_bytes(text); !fault.empty()) return fault;
  const auto rows = raw_csv(text);
  static const std::regex number("[+-]?([0-9.]+(e[+-]?[0-9]+)?|inf|Infinity)");
  for (const auto& row : rows) {
    if (row.size() != rows[0].size()) return fmt::format("{} cells, not {}: {}", row.size(), rows[0].size(), row[0]);
    for (const auto& cell : row)
      for (const std::string_view begin : {"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"})
        if (cell.starts_with(begin) && !std::regex_match(cell, number)) return "a formula: " + cell;
  }
  return "";
}

}  // namespace torchstone
