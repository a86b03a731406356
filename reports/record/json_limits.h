#pragma once
#include <string_view>

namespace torchstone {

/// What JSON may hold before anything is made of it; far above a run of 100,000 cases.
struct JsonLimits {
  static constexpr size_t bytes = size_t{512} << 20, depth = 64, members = 8'000'000, items = 32'000'000,
                          results = 250'000;
};

/// Throws std::invalid_argument "nested 65 levels deep (expected at most 64)" and the like for a text beyond the limits
/// of depth, of members of objects, and of items of arrays. Anything else that is wrong is left to the parser.
void check_json_limits(std::string_view text);

}  // namespace torchstone
