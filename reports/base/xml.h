#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchstone {

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Text for element content: markup, control characters and invalid UTF-8 escaped.
std::string xml_text(std::string_view text);
/// Text for a double-quoted attribute, and as good for element content: quotes and line breaks are escaped too.
std::string xml_attribute(std::string_view text);
/// `<name key="value" …` without its end; line breaks in values survive.
std::string xml_open(std::string_view name, const Attributes& attributes);

}  // namespace torchstone
