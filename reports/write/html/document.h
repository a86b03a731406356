#pragma once
#include <string>

namespace torchstone::html {

/// A whole page around `content` (markup), with the style of the library and, where asked for, its script. It allows
/// itself these, by their hashes, and nothing else: no request, no inline handler. `title` is markup too.
std::string document(const std::string& title, const std::string& content, bool with_script);

}  // namespace torchstone::html
