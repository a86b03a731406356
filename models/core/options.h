#pragma once
#include <cstdint>

namespace torchstone {

/// Size of a model: `mini` for a 2-core machine, `full` as published.
enum class Preset { mini, full };
enum class Mode { inference, training };

/// What a model factory may depend on.
struct ModelOptions {
  Preset preset = Preset::mini;
  Mode mode = Mode::inference;
  int64_t batch_size = 1;
};

}  // namespace torchstone
