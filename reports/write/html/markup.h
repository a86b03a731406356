#pragma once
#include <string>
#include <string_view>

namespace torchstone::html {

/// Escapes text for content and for double-quoted attributes. Every text of the page passes through it.
std::string escaped(std::string_view text);
/// The same for at most `limit` characters of the text; the middle is cut out, with a count of what is missing.
std::string escaped_cut(std::string_view text, size_t limit);
/// "1 case", "3 cases".
std::string counted(size_t count, std::string_view noun);
/// "48 s", "5 min 12 s", "2 h 03 min".
std::string duration_text(double seconds);

}  // namespace torchstone::html
