#include "reports/base/terminal.h"

#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reports/base/text.h"

namespace torchstone {
namespace {

bool is_set(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value != nullptr && *value != '\0';
}

bool is_forced(const Environment& environment, const char* name) {
  return is_set(environment, name) && std::string_view(environment(name)) != "0";
}

bool is_dumb(const Environment& environment) {
  const char* term = environment("TERM");
  return term == nullptr || std::string_view(term) == "dumb";
}

const char* process_environment(const char* name) { return std::getenv(name); }

void replace_all(std::string& text, std::string_view part, std::string_view by) {
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
}

/// Escapes `::` at the start of lines. Services skip spaces there, also those beyond ASCII.
void disarm_line_beginnings(std::string& text) {
  bool begins = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (begins && text.compare(i, 2, "::") == 0) text.replace(i, 1, "\\x3a");
    const bool may_be_space = text[i] == ' ' || text[i] == '\t' || (text[i] & 0x80) != 0;
    begins = text[i] == '\n' || (begins && may_be_space);
  }
}

}  // namespace

bool use_color(When flag, bool is_terminal, const Environment& environment) {
  if (flag != When::automatic) return flag == When::always;
  if (is_set(environment, "NO_COLOR")) return false;
  if (is_forced(environment, "CLICOLOR_FORCE") || is_forced(environment, "FORCE_COLOR")) return true;
  return is_terminal && !is_dumb(environment);
}

bool use_color(When flag) { return use_color(flag, isatty(STDOUT_FILENO) != 0, process_environment); }

bool output_is_terminal() { return isatty(STDOUT_FILENO) != 0 && !is_dumb(process_environment); }

size_t terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

size_t line_width() { return output_is_terminal() ? terminal_width() : 160; }

std::string colored(std::string_view text, Color color, bool enabled) {
  if (!enabled || color == Color::plain) return std::string(text);
  const char* code = color == Color::green ? "32" : color == Color::red ? "31" : color == Color::yellow ? "33" : "36";
  return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
}

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
