#pragma once
#include <cstdint>
#include <optional>

#include <torchstone/model_info.h>

namespace torchstone::fastrnns {

/// Of all recurrent benchmarks.
inline constexpr const char* family = "lstm";

/// Sizes of the recurrent benchmarks; the batch size is that of the case.
struct RecurrentSizes {
  int64_t steps, layers, input, hidden;
};

/// Sizes that replace those of the preset; an empty member replaces nothing.
struct RecurrentFlags {
  std::optional<int64_t> steps, layers, input, hidden;
};
/// Set once in main, before a model is made; children inherit it.
RecurrentFlags& recurrent_flags();

/// full: upstream's defaults (fastrnns/bench.py: 100 steps, 1 layer, 512, 512); mini: 5 steps, 1 layer, 16, 16.
RecurrentSizes recurrent_sizes(Preset preset);

}  // namespace torchstone::fastrnns
