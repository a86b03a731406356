#pragma once
#include <set>
#include <string>
#include <vector>

// Checks of texts in the formats of reports, whose fields may hold anything. A function fault_of_…() returns the fault,
// or an empty string if there is none.
namespace torchstone {

/// Requires valid UTF-8 without control characters other than tab and newline, and without characters that change the
/// direction of text.
std::string fault_of_bytes(const std::string& text);
/// Checks a text for a terminal or a CI log. Requires what fault_of_bytes() does, and no commands of CI services.
std::string fault_of_log(const std::string& text);
/// Requires well-formed elements with these names only.
std::string fault_of_xml(const std::string& text, const std::set<std::string>& elements);
/// Returns the elements of a page with the names of their attributes, such as "img onerror src".
std::set<std::string> elements_of_page(const std::string& text);
/// Requires tables with the same number of cells in each row. Outside of code, allows only the elements that Torchstone
/// writes, and no link, image or mention.
std::string fault_of_markdown(const std::string& text);
/// Returns the rows of cells as they are in the file, with their quotes.
std::vector<std::vector<std::string>> raw_csv(const std::string& text);
/// Returns the lines of a text without their line ends.
std::vector<std::string> text_lines(const std::string& text);
/// Requires the same number of cells in each row, and no cell that a spreadsheet would read as a formula.
std::string fault_of_csv(const std::string& text);

}  // namespace torchstone
