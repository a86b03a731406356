#pragma once
#include <string>
#include <vector>

namespace torchstone {

/// The candidate within a third (rounded up) of the word's length of `word` by edits (insert, delete, replace); "" when
/// none is.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// "expected one of a, b, c; did you mean b?": the closing part of an error about a word. Lists up to 20 candidates.
std::string expected_one_of(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace torchstone
