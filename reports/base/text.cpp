#include "reports/base/text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace torchstone {
namespace {

/// Returns the code point of a character of `size` bytes.
uint32_t code_point(std::string_view text, size_t position, size_t size) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[position + i])); };
  if (size == 1) return byte(0);
  uint32_t value = byte(0) & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; ++i) value = value << 6 | (byte(i) & 0x3Fu);
  return value;
}

/// Whether a character controls a terminal, ends a line or changes the direction of text. Tab and newline do not count.
bool is_control(uint32_t c) {
  if (c == '\t' || c == '\n') return false;
  const bool ends_a_line = c == 0x2028 || c == 0x2029;
  const bool changes_direction =
      c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || ends_a_line || changes_direction || c == 0xFFFE || c == 0xFFFF;
}

/// Replaces bytes that are not part of a character, and those characters that `unwanted` names, by \xNN.
template <typename Unwanted>
std::string escaped(std::string_view text, const Unwanted& unwanted) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t size = utf8_size(text, i);
    const std::string_view bytes = text.substr(i, size == 0 ? 1 : size);
    if (size == 0 || unwanted(code_point(text, i, size)))
      for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += bytes;
    i += bytes.size();
  }
  return out;
}

/// Returns the byte at which character number `column` begins; the end when there are fewer.
size_t byte_of_column(std::string_view text, size_t column) {
  size_t byte = 0;
  for (size_t count = 0; byte < text.size(); ++byte) {
    const bool begins = (static_cast<unsigned char>(text[byte]) & 0xC0) != 0x80;
    if (begins && count++ == column) break;
  }
  return byte;
}

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

}  // namespace

size_t utf8_size(std::string_view text, size_t position) {
  if (position >= text.size()) return 0;
  const auto lead = static_cast<unsigned char>(text[position]);
  const size_t size = lead < 0x80                   ? 1
                      : lead >= 0xC2 && lead < 0xE0 ? 2
                      : lead >> 4 == 0xE            ? 3
                      : lead >> 3 == 0x1E           ? 4
                                                    : 0;
  if (size == 0 || position + size > text.size()) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[position + i]) & 0xC0) != 0x80) return 0;
  }
  const uint32_t value = code_point(text, position, size);
  const bool overlong = (size == 3 && value < 0x800) || (size == 4 && value < 0x10000);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  return overlong || surrogate || value > 0x10FFFF ? 0 : size;
}

std::string valid_utf8(std::string_view text) {
  return escaped(text, [](uint32_t) { return false; });
}

std::string printable(std::string_view text) { return escaped(text, is_control); }

std::string printable_line(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

std::string printable_json(std::string_view dumped) {
  std::string out;
  out.reserve(dumped.size());
  for (size_t i = 0; i < dumped.size();) {
    const size_t size = std::max<size_t>(utf8_size(dumped, i), 1);
    const uint32_t c = code_point(dumped, i, size);
    out += size > 1 || c == 0x7F ? is_control(c) ? fmt::format("\\u{:04x}", c) : std::string(dumped.substr(i, size))
                                 : std::string(1, dumped[i]);
    i += size;
  }
  return out;
}

size_t columns(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

std::string shortened(std::string_view text, size_t limit) {
  if (columns(text) <= limit) return std::string(text);
  if (limit == 0) return "";
  return std::string(text.substr(0, byte_of_column(text, limit - 1))) + "…";
}

std::string shortened_middle(std::string_view text, size_t limit) {
  const size_t size = columns(text);
  if (size <= limit) return std::string(text);
  if (limit == 0) return "";
  const size_t head = limit / 2, tail = limit - 1 - head;
  return std::string(text.substr(0, byte_of_column(text, head))) + "…" +
         std::string(text.substr(byte_of_column(text, size - tail)));
}

std::string substituted(std::string_view text, const std::map<char, std::string_view>& by) {
  std::string out;
  for (const char c : text) {
    const auto found = by.find(c);
    out += found == by.end() ? std::string_view(&c, 1) : found->second;
  }
  return out;
}

std::string first_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r')) text.remove_suffix(1);
  return std::string(text);
}

std::string trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() += 'A' - 'a';
  return text;
}

uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string exact(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

std::optional<double> parse_number(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_counter(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos ? parse_number(text) : std::nullopt;
}

std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string xml_text(std::string_view text) {
  static const std::map<char, std::string_view> markup = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};
  return substituted(printable(text), markup);
}

std::string xml_attribute(std::string_view text) {
  // An XML parser would turn a line break into a space.
  static const std::map<char, std::string_view> further = {{'"', "&quot;"}, {'\n', "&#10;"}, {'\t', "&#9;"}};
  return substituted(xml_text(text), further);
}

std::string xml_open(std::string_view name, const Attributes& attributes) {
  std::string out = "<" + std::string(name);
  for (const auto& [key, value] : attributes) out += " " + std::string(key) + "=\"" + xml_attribute(value) + "\"";
  return out;
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  if (word.size() > 100) return "";  // no name is that long, and the distance takes quadratic time
  std::string best;
  size_t best_distance = (word.size() + 2) / 3 + 1;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string expected_one_of(const std::string& word, const std::vector<std::string>& candidates) {
  if (candidates.empty()) return "expected none at all";
  const size_t shown = std::min<size_t>(candidates.size(), 20);
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string text =
      fmt::format("expected {}{}", candidates.size() == 1 ? "" : "one of ", fmt::join(candidates.begin(), end, ", "));
  if (shown < candidates.size()) text += fmt::format(" and {} more", candidates.size() - shown);
  const std::string guess = nearest(word, candidates);
  return guess.empty() ? text : fmt::format("{}; did you mean {}?", text, guess);
}

}  // namespace torchstone
