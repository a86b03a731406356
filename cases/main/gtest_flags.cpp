#include "cases/main/gtest_flags.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fnmatch.h>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reports/base/text.h"

namespace torchstone {
namespace {

std::string described(const char* name, const char* value) {
  return value == nullptr ? fmt::format("{} is not set", name)
                          : fmt::format("{}={}", name, shortened(printable(value), 100));
}

bool is_typed(const std::vector<std::string>& arguments, std::string_view name) {
  return std::ranges::any_of(arguments, [&](std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
    return word.starts_with(name) && (word.size() == name.size() || word[name.size()] == '=');
  });
}

/// Escapes brackets and backslashes for fnmatch, because they have no meaning in GoogleTest's patterns.
std::string glob_of(const std::string& pattern) {
  std::string glob;
  for (const char c : pattern) {
    if (c == '[' || c == '\\') glob += '\\';
    glob += c;
  }
  return glob;
}

bool any_matches(const std::string& patterns, const std::string& name) {
  std::istringstream stream(patterns);
  for (std::string pattern; std::getline(stream, pattern, ':');)
    if (fnmatch(glob_of(pattern).c_str(), name.c_str(), 0) == 0) return true;
  return false;
}

}  // namespace

void require_shards() {
  const char *total = std::getenv("GTEST_TOTAL_SHARDS"), *index = std::getenv("GTEST_SHARD_INDEX");
  if (total == nullptr && index == nullptr) return;
  const auto shards = parse_integer<int32_t>(total == nullptr ? "" : total),
             shard = parse_integer<int32_t>(index == nullptr ? "" : index);
  if (shards && shard && *shard >= 0 && *shard < *shards) return;
  throw config::ConfigError(
      fmt::format("{}, {} (expected both: the number of shards, and this one's, from 0 to one less than it)",
                  described("GTEST_TOTAL_SHARDS", total), described("GTEST_SHARD_INDEX", index)));
}

void require_gtest_flags(const flags::Flags& flags, const std::vector<std::string>& arguments) {
  if (GTEST_FLAG_GET(throw_on_failure))
    throw config::ConfigError(
        "--gtest_throw_on_failure: an exception would end the run at its first red case, without reports "
        "(--gtest_fail_fast ends it there with them)");
  if (!flags.tournament) return;
  std::string against;
  if (is_typed(arguments, "gtest_output") && !GTEST_FLAG_GET(output).empty()) against = "output";
  if (is_typed(arguments, "gtest_repeat") && GTEST_FLAG_GET(repeat) != 1) against = "repeat";
  if (!against.empty())
    throw config::ConfigError(fmt::format("--torchstone_tournament does not go with --gtest_{}", against));
}

bool filter_keeps(const std::string& filter, const std::string& name) {
  const size_t minus = filter.find('-');
  const std::string positive = filter.substr(0, minus);
  if (!positive.empty() && !any_matches(positive, name)) return false;
  return minus == std::string::npos || !any_matches(filter.substr(minus + 1), name);
}

}  // namespace torchstone
