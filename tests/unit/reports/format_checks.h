#pragma once
#include <set>
#include <string>
#include <vector>

// What must hold for a text of a format, whatever stood in its fields. Each returns what is wrong; empty: nothing.
namespace torchstone {

/// Valid UTF-8 without control characters but tab and newline, and without characters that turn the direction of text.
std::string fault_of_bytes(const std::string& text);
/// For a terminal or a CI log: fault_of_bytes, and nothing that a CI service takes for its own command.
std::string fault_of_log(const std::string& text);
/// Well-formed elements, and of these names only.
std::string fault_of_xml(const std::string& text, const std::set<std::string>& elements);
/// The elements of a page with the names of their attributes, "img onerror src".
std::set<std::string> elements_of_page(const std::string& text);
/// Tables with as many cells in each row, and outside of code no element but our own, no link, picture or mention.
std::string fault_of_markdown(const std::string& text);
/// The cells as they stand in the file; `rows` of them.
std::vector<std::vector<std::string>> raw_csv(const std::string& text);
/// Without their ends.
std::vector<std::string> text_lines(const std::string& text);
/// No cell that a spreadsheet would take for a formula, and as many cells in each row.
std::string fault_of_csv(const std::string& text);

}  // namespace torchstone
