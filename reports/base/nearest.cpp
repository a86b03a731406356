#include "reports/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace torchstone {
namespace {

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

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  if (word.size() > 100) return "";  // no name is that long, and the distance is quadratic
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
