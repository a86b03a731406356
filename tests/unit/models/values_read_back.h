#pragma once
#include <string>

namespace torchstone {

/// Returns whether the model's forward reads a value back (`.item()`), so that it cannot be captured whole.
inline bool reads_values_back(const std::string& model) {
  return model == "speech_transformer" || model == "vision_maskrcnn";
}

}  // namespace torchstone
