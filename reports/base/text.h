#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace torchstone {

/// Bytes of the well-formed UTF-8 character at `position`; 0 when none begins there.
size_t utf8_size(std::string_view text, size_t position);
/// Every byte that belongs to no character becomes \xNN; valid text stays as it is.
std::string valid_utf8(std::string_view text);
/// valid_utf8, and control characters but tab and newline become \xNN too, and so do those that turn the direction of
/// text or end a line: safe for terminals and for XML 1.0.
std::string printable(std::string_view text);
/// printable, with a space in the place of each tab and newline.
std::string printable_line(std::string_view text);
/// JSON as nlohmann::json dumps it, with the same characters as \uNNNN: they stand within strings only.
std::string printable_json(std::string_view dumped);
/// Characters of valid UTF-8: its columns on a terminal, wide characters apart.
size_t columns(std::string_view text);
/// At most `limit` characters, the last one "…" when something was cut.
std::string shortened(std::string_view text, size_t limit);
/// The same with the "…" in the middle: names of cases differ at both ends.
std::string shortened_middle(std::string_view text, size_t limit);
std::string first_line(std::string_view text);
/// Without spaces, tabs and carriage returns at both ends.
std::string trimmed(std::string_view text);
/// With a capital where an ASCII letter begins it: words as a headline.
std::string capitalised(std::string text);

// Numbers have a dot in every locale: plug-ins may choose one with a comma.

/// The shortest decimal that reads back as the same double; "NaN", "Infinity", "-Infinity".
std::string exact(double value);
/// The reverse; nothing when the text is no number or has anything behind it.
std::optional<double> parse_number(std::string_view text);
/// The number that the text begins with.
std::optional<double> leading_number(std::string_view text);

using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Text for element content: markup, control characters and invalid UTF-8 escaped.
std::string xml_text(std::string_view text);
/// Text for a double-quoted attribute, and as good for element content: quotes and line breaks are escaped too.
std::string xml_attribute(std::string_view text);
/// `<name key="value" …` without its end; line breaks in values survive.
std::string xml_open(std::string_view name, const Attributes& attributes);

/// The candidate within a third (rounded up) of the word's length of `word` by edits (insert, delete, replace); "" when
/// none is.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// "expected one of a, b, c; did you mean b?": the closing part of an error about a word. Lists up to 20 candidates.
std::string expected_one_of(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace torchstone
