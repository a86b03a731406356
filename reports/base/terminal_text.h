#pragma once
#include <string>
#include <string_view>

namespace torchstone {

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
