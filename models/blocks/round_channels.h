#pragma once
#include <algorithm>
#include <cstdint>

namespace torchstone {

/// Nearest multiple of 8, but never more than a tenth below (the rule of the MobileNets).
inline int64_t round_channels(double channels) {
  const auto rounded = std::max<int64_t>(8, static_cast<int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

}  // namespace torchstone
