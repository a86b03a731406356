#pragma once
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "cases/config/yaml.h"

namespace torchstone::config {

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
