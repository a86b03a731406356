#include "reports/record/json_limits.h"

#include <stdexcept>

#include <fmt/format.h>

namespace torchstone {
namespace {

[[noreturn]] void refuse(std::string_view what, size_t most) {
  throw std::invalid_argument(fmt::format("{} (expected at most {})", what, most));
}

/// Behind the closing quote of the string that begins at `at`.
size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
  return at;
}

}  // namespace

void check_json_limits(std::string_view text) {
  std::string open;  // the brackets around the place
  size_t members = 0, items = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        at = end_of_string(text, at);
        break;
      case '[':
      case '{':
        open += text[at];
        if (open.size() > JsonLimits::depth) refuse("nested too deeply", JsonLimits::depth);
        break;
      case ']':
      case '}':
        if (!open.empty()) open.pop_back();
        break;
      case ':':
        if (++members > JsonLimits::members) refuse("too many members of objects", JsonLimits::members);
        break;
      case ',':
        items += open.ends_with('[');
        if (items > JsonLimits::items) refuse("too many items of arrays", JsonLimits::items);
        break;
      default:
        break;
    }
  }
}

}  // namespace torchstone
