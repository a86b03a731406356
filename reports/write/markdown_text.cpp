#include <algorithm>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/write/markdown.h"

namespace torchstone::write {
namespace {

size_t longest_run_of_backticks(std::string_view text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

}  // namespace

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : printable_line(text)) {
    // A mention or a link to an issue is made from the finished page: only a character between prevents it.
    if (c == '@' || c == '#')
      out += std::string(1, c) + "&#8203;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == ':')
      out += "&#58;";  // neither an address nor an emoji
    else if (c == '.' && out.ends_with("www"))
      out += "&#46;";
    else if (std::string_view("\\`*_[]|~$").find(c) != std::string_view::npos)
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out;
}

std::string markdown_html(std::string_view text) {
  std::string out;
  for (const char c : printable_line(text)) {
    out += std::string_view("\\`*_[]|~$:.!<>&\"'@#").find(c) == std::string_view::npos
               ? std::string(1, c)
               : fmt::format("&#{};", static_cast<int>(c));
    if (c == '@' || c == '#') out += "&#8203;";
  }
  return out;
}

std::string markdown_code(std::string_view text, bool in_table) {
  std::string inner;
  for (const char c : printable_line(text)) inner += in_table && c == '|' ? "\\|" : std::string(1, c);
  const std::string fence(longest_run_of_backticks(inner) + 1, '`');
  const bool touches = inner.empty() || inner.starts_with('`') || inner.ends_with('`');
  return touches ? fence + " " + inner + " " + fence : fence + inner + fence;
}

std::string markdown_block(std::string_view text) {
  const std::string inner = printable(text);
  const std::string fence(std::max<size_t>(3, longest_run_of_backticks(inner) + 1), '`');
  return fence + "\n" + inner + (inner.ends_with('\n') ? "" : "\n") + fence + "\n";
}

}  // namespace torchstone::write
