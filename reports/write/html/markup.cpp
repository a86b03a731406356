#include "reports/write/html/markup.h"

#include <cmath>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone::html {

std::string escaped(std::string_view text) { return xml_attribute(text); }

std::string escaped_cut(std::string_view text, size_t limit) {
  if (text.size() <= limit) return escaped(text);
  // Where characters begin, so that none is cut into bytes.
  const auto boundary = [&](size_t at) {
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    return at;
  };
  const size_t head = boundary(limit / 2), tail = boundary(text.size() - limit / 2);
  return fmt::format("{}\n\n… {} bytes left out; the JSON has them …\n\n{}", escaped(text.substr(0, head)), tail - head,
                     escaped(text.substr(tail)));
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace torchstone::html
