#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone::config {

/// A file, flag or environment variable that cannot be used. what() reads
/// `file:line: path.to.key: what (expected …; did you mean …?)`. Exit code 2.
struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Where a value was written: a line of a file, or (line 0) a flag.
struct Place {
  std::string file;
  int line = 0;
  std::string path{};  ///< `matrix[1].checks`; empty for a whole file or a flag
};

/// `file:line`, or the flag: what Case::origin holds.
std::string origin_of(const Place& place);
/// Throws ConfigError for that place.
[[noreturn]] void fail(const Place& place, const std::string& what);

/// A YAML value as a plain tree: every limit on hostile input is checked while it is made.
struct Yaml : Place {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  struct Entry;
  std::string text;            ///< of a scalar, as written
  std::vector<Yaml> items;     ///< of a sequence
  std::vector<Entry> entries;  ///< of a map, in order; `line` of a value is the line of its key

  /// nullptr when a map has no such key.
  const Yaml* find(const std::string& key) const;
};

struct Yaml::Entry {
  std::string first;
  Yaml second;
};

/// Throws ConfigError when the file cannot be read, is larger than 1 MiB, is not UTF-8, holds not exactly one document,
/// repeats a key, is nested deeper than 32 or has more than 100,000 values once aliases are followed.
Yaml read_yaml(const std::string& file);
/// The same for a text; `file` is named in errors.
Yaml parse_yaml(const std::string& text, const std::string& file);
/// A value that a flag gives: errors and origins name `flag`.
Yaml scalar_of_flag(const std::string& flag, const std::string& text);

// Each throws ConfigError with the place when the value is not of that type or range.
const Yaml& require(const Yaml& map, const std::string& key);
void require_map(const Yaml& node);
void require_keys(const Yaml& map, const std::vector<std::string>& known);
std::string text_of(const Yaml& node);
bool boolean_of(const Yaml& node);
int64_t integer_of(const Yaml& node, int64_t low, int64_t high);
/// Finite, low ≤ value ≤ high.
double number_of(const Yaml& node, double low, double high);
/// A scalar stands for a list of one; nulls are dropped and nested lists flattened, as upstream's files need it.
std::vector<Yaml> list_of(const Yaml& node);

using torchstone::expected_one_of;
using torchstone::nearest;

/// The words that a key or a flag takes, and what each means.
template <typename T>
using Words = std::vector<std::pair<std::string, T>>;

/// Words of an enum by its to_string.
template <typename Enum>
Words<Enum> words_for(const std::vector<Enum>& values) {
  Words<Enum> words;
  for (const Enum value : values) words.emplace_back(to_string(value), value);
  return words;
}

template <typename T>
std::vector<std::string> spelt(const Words<T>& words) {
  std::vector<std::string> texts;
  for (const auto& word : words) texts.push_back(word.first);
  return texts;
}

/// The meaning of the word that stands there; throws ConfigError: "'flaot32' is no dtype (expected one of …)". Without
/// `what` the error has only the word and the list.
template <typename T>
T word_of(const Yaml& node, const Words<T>& words, const std::string& what = "") {
  const std::string text = text_of(node);
  for (const auto& [word, meaning] : words)
    if (word == text) return meaning;
  fail(node,
       fmt::format("'{}'{} ({})", text, what.empty() ? "" : " is no " + what, expected_one_of(text, spelt(words))));
}

}  // namespace torchstone::config
