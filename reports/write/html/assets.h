#pragma once
#include <string_view>

namespace torchstone {

/// The text of html/style.css and of html/script.js, which are part of the library.
std::string_view page_style();
std::string_view page_script();

}  // namespace torchstone
