#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace torchstone {

enum class ColorChoice { automatic, always, never };

/// "auto", "always", "never"; nothing for anything else.
std::optional<ColorChoice> parse_color(std::string_view text);

/// The value of an environment variable; nullptr when it is unset. `std::getenv` outside of tests.
using Environment = std::function<const char*(const char*)>;

/// The flag goes before NO_COLOR, that before CLICOLOR_FORCE and FORCE_COLOR, those before what the terminal is.
/// Sources: no-color.org, bixense.com/clicolors.
bool use_color(ColorChoice flag, bool is_terminal, const Environment& environment);
bool use_color(ColorChoice flag);

/// Whether standard output is a terminal that can redraw a line (TERM is not "dumb").
bool output_is_terminal();
/// Columns of standard output; 80 when it does not say.
size_t terminal_width();
/// Columns for lines that need not be whole: the terminal's, or 160 in a log.
size_t line_width();

enum class Color { plain, green, red, yellow, cyan };
std::string colored(std::string_view text, Color color, bool enabled);

/// Text of others for a terminal or the log of a CI service: printable, and nothing in it is a command of the service
/// (a line that begins with `::`; `##[` and `##vso[` anywhere): the character that makes it one becomes \xNN. Applied
/// again it changes nothing.
std::string terminal_text(std::string_view text);
/// The same on one line, for a field.
std::string terminal_line(std::string_view text);

/// To standard output, as terminal_text.
void print_text(std::string_view text);
/// To standard error, as terminal_text, with a newline.
void print_error(std::string_view text);

}  // namespace torchstone
