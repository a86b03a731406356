#pragma once
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone::config {

/// An unusable file, flag or environment variable (exit code 2). what() has the form
/// `file:line: path.to.key: what (expected …; did you mean …?)`.
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Source of a value: a line of a file, or a flag (line 0).
struct Place {
  std::string file;
  int line = 0;
  std::string path{};  ///< such as `matrix[1].checks`; empty for a whole file or a flag
};

/// Returns `file:line`, or the flag, as Case::origin holds it.
std::string origin_of(const Place& place);
/// Throws a ConfigError that names the place.
[[noreturn]] void fail(const Place& place, const std::string& what);

/// A YAML value as a plain tree. The parser enforces all limits on hostile input.
struct Yaml : Place {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  struct Entry;
  std::string text;            ///< text of a scalar, as written
  std::vector<Yaml> items;     ///< items of a sequence
  std::vector<Entry> entries;  ///< entries of a map, in order; `line` of a value is the line of its key

  /// Returns nullptr when a map lacks the key.
  const Yaml* find(const std::string& key) const;
};

struct Yaml::Entry {
  std::string first;
  Yaml second;
};

/// Reads a UTF-8 file of at most 1 MiB with exactly one document and no repeated key. The document has at most 32
/// levels and, once aliases are followed, 100,000 values. Throws ConfigError otherwise.
Yaml read_yaml(const std::string& file);
/// Parses a text under the same rules; errors name `file`.
Yaml parse_yaml(const std::string& text, const std::string& file);
/// Returns the value of a flag; errors and origins name `flag`.
Yaml scalar_of_flag(const std::string& flag, const std::string& text);

// Functions that read a value. They throw a ConfigError that names the place if the type or the range is wrong.
const Yaml& require(const Yaml& map, const std::string& key);
void require_map(const Yaml& node);
void require_keys(const Yaml& map, const std::vector<std::string>& known);
/// Accepts a known name. The error is "WHAT (expected one of …)".
void require_known(const Place& place, const std::string& name, const std::vector<std::string>& known,
                   const std::string& what);
std::string text_of(const Yaml& node);
bool boolean_of(const Yaml& node);
int64_t integer_of(const Yaml& node, int64_t low, int64_t high);
/// Accepts a finite number from `low` to `high`.
double number_of(const Yaml& node, double low, double high);
/// Returns a scalar as a list of one. Drops nulls and flattens nested lists, as upstream's files require.
std::vector<Yaml> list_of(const Yaml& node);

/// Returns one text for each item, such as its name.
template <typename Items, typename Projection>
std::vector<std::string> texts_of(const Items& items, Projection projection) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.emplace_back(std::invoke(projection, item));
  return texts;
}

using torchstone::expected_one_of;
using torchstone::nearest;

/// Words that a key or a flag accepts, with their meanings.
template <typename T>
using Words = std::vector<std::pair<std::string, T>>;

/// Returns the words of an enum, as its to_string() spells them.
template <typename Enum>
Words<Enum> words_for(const std::vector<Enum>& values) {
  Words<Enum> words;
  for (const Enum value : values) words.emplace_back(to_string(value), value);
  return words;
}

template <typename T>
std::vector<std::string> spelt(const Words<T>& words) {
  return texts_of(words, &Words<T>::value_type::first);
}

/// Returns the meaning of a word. Throws ConfigError: "'flaot32' is not a dtype (expected one of …)". Without `what`
/// the error has only the word and the list.
template <typename T>
T word_of(const Yaml& node, const Words<T>& words, const std::string& what = "") {
  const std::string text = text_of(node);
  for (const auto& [word, meaning] : words)
    if (word == text) return meaning;
  fail(node,
       fmt::format("'{}'{} ({})", text, what.empty() ? "" : " is not a " + what, expected_one_of(text, spelt(words))));
}

}  // namespace torchstone::config
