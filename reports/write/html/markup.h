#pragma once
#include <string>
#include <string_view>

namespace torchstone::html {

/// The one way for any text into the page: content and double-quoted attributes alike.
std::string escaped(std::string_view text);
/// escaped, with at most `limit` characters of it; cut in the middle, and the cut is counted.
std::string escaped_cut(std::string_view text, size_t limit);
/// "1 case", "3 cases".
std::string counted(size_t count, std::string_view noun);
/// "48 s", "5 min 12 s", "2 h 03 min".
std::string duration_text(double seconds);

}  // namespace torchstone::html
