#include "reports/base/terminal_text.h"

#include <cstdio>

#include "reports/base/text.h"

namespace torchstone {
namespace {

void replace_all(std::string& text, std::string_view part, std::string_view by) {
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
}

/// Services look behind the spaces that a line begins with, those beyond ASCII too.
void disarm_line_beginnings(std::string& text) {
  bool begins = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (begins && text.compare(i, 2, "::") == 0) text.replace(i, 1, "\\x3a");
    const bool may_be_space = text[i] == ' ' || text[i] == '\t' || (text[i] & 0x80) != 0;
    begins = text[i] == '\n' || (begins && may_be_space);
  }
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string out = printable(text);
  disarm_line_beginnings(out);
  replace_all(out, "##[", "#\\x23[");
  replace_all(out, "##vso[", "#\\x23vso[");
  return out;
}

std::string terminal_line(std::string_view text) { return terminal_text(printable_line(text)); }

void print_text(std::string_view text) {
  const std::string safe = terminal_text(text);
  std::fwrite(safe.data(), 1, safe.size(), stdout);
}

void print_error(std::string_view text) {
  const std::string safe = terminal_text(text) + "\n";
  std::fwrite(safe.data(), 1, safe.size(), stderr);
}

}  // namespace torchstone
