#pragma once
#include <charconv>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace torchstone {

/// Number of bytes of the well-formed UTF-8 character at `position`; 0 when none begins there.
size_t utf8_size(std::string_view text, size_t position);
/// Replaces each byte that is not part of a character by \xNN.
std::string valid_utf8(std::string_view text);
/// Makes text safe for terminals and for XML 1.0. It is valid_utf8, and control characters except tab and newline
/// become \xNN too, also those that change the direction of text or end a line.
std::string printable(std::string_view text);
/// Makes text printable, with a space for each tab and newline.
std::string printable_line(std::string_view text);
/// Escapes the same characters as \uNNNN in JSON from nlohmann::json, which has them only inside strings.
std::string printable_json(std::string_view dumped);
/// Number of characters of valid UTF-8: its columns on a terminal, except for wide characters.
size_t columns(std::string_view text);
/// Shortens text to `limit` characters; the last one is "…" when something was cut.
std::string shortened(std::string_view text, size_t limit);
/// Does the same with the "…" in the middle: names of cases differ at both ends.
std::string shortened_middle(std::string_view text, size_t limit);
/// Replaces characters by texts: `{{'&', "&amp;"}}`.
std::string substituted(std::string_view text, const std::map<char, std::string_view>& by);
std::string first_line(std::string_view text);
/// Removes spaces, tabs and carriage returns at both ends.
std::string trimmed(std::string_view text);
/// Returns "1 case", "2 cases".
std::string counted(size_t count, std::string_view noun);
/// Makes a first ASCII letter upper case.
std::string capitalised(std::string text);
/// Returns a hash that is the same on every machine: FNV-1a, 64 bits.
uint64_t hash_of(std::string_view text);

/// Returns the value of a key; `otherwise` when the map lacks the key.
template <typename Map>
typename Map::mapped_type value_in(const Map& map, const typename Map::key_type& key,
                                   typename Map::mapped_type otherwise = {}) {
  const auto found = map.find(key);
  return found == map.end() ? std::move(otherwise) : found->second;
}

// Numbers have a dot in every locale: plug-ins may choose one with a comma.

/// Writes the shortest decimal that reads back as the same double; "NaN", "Infinity", "-Infinity".
std::string exact(double value);
/// Parses such a text; empty when the text is not exactly a number.
std::optional<double> parse_number(std::string_view text);
/// Parses an integer; empty when the text is not exactly an integer of this type.
template <std::integral Integer>
std::optional<Integer> parse_integer(std::string_view text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}
/// Parses a counter or a limit of the kernel, which has only digits; empty for any other text.
std::optional<double> parse_counter(std::string_view text);
/// Reads the number at the start of the text.
std::optional<double> leading_number(std::string_view text);

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Escapes text for element content: markup, control characters and invalid UTF-8.
std::string xml_text(std::string_view text);
/// Escapes text for a double-quoted attribute: quotes and line breaks too. It also fits element content.
std::string xml_attribute(std::string_view text);
/// Returns `<name key="value" …` without its end. Line breaks in values survive.
std::string xml_open(std::string_view name, const Attributes& attributes);

/// Returns the candidate with the fewest edits (insert, delete, replace) from `word`, at most a third of its length
/// rounded up; "" when there is no such candidate.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// Returns the end of an error message about a word: "expected one of a, b, c; did you mean b?". Lists up to 20
/// candidates.
std::string expected_one_of(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace torchstone
