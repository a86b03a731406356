#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace torchstone {

/// When a part of the output is written: `automatic` depends on where it goes.
enum class When { automatic, always, never };

/// Returns the value of an environment variable, or nullptr when it is not set: `std::getenv` except in tests.
using Environment = std::function<const char*(const char*)>;

/// Whether to use colour. The flag decides first, then NO_COLOR, then CLICOLOR_FORCE and FORCE_COLOR, then the
/// terminal. Sources: no-color.org, bixense.com/clicolors.
bool use_color(When flag, bool is_terminal, const Environment& environment);
bool use_color(When flag);

/// Whether standard output is a terminal that can redraw a line (TERM is not "dumb").
bool output_is_terminal();
/// Number of columns of standard output; 80 when it is unknown.
size_t terminal_width();
/// Number of columns for lines that may be shortened: the terminal's, or 160 in a log.
size_t line_width();

enum class Color { plain, green, red, yellow, cyan };
std::string colored(std::string_view text, Color color, bool enabled);

/// Makes foreign text safe for a terminal and for the log of a CI service. It becomes printable. Commands of the
/// service (`::` at the start of a line, `##[` and `##vso[` anywhere) are disabled: one of their characters becomes
/// \xNN. A second application changes nothing.
std::string terminal_text(std::string_view text);
/// Does the same for a field, and puts it on one line.
std::string terminal_line(std::string_view text);

/// Writes terminal_text to standard output.
void print_text(std::string_view text);
/// Writes terminal_text and a newline to standard error.
void print_error(std::string_view text);

}  // namespace torchstone
