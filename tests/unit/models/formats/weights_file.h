#pragma once
#include <fstream>
#include <string>

#include <torchstone/model.h>

#include "models/core/model_state.h"
#include "models/formats/safetensors.h"

namespace torchstone::formats {

inline void write_safetensors_file(const std::string& path, const SafeTensors& content) {
  std::ofstream stream(path, std::ios::binary);
  write_safetensors(stream, path, content);
}

/// Writes the state_dict of a model, with tied tensors under each of their names.
inline void write_weights_file(const Model& model, const std::string& path) {
  SafeTensors content;
  for (const auto& [name, tensor] : state_of(model)) {
    if (model.in_state_dict(name)) content.tensors[name] = tensor;
  }
  write_safetensors_file(path, content);
}

}  // namespace torchstone::formats
