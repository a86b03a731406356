#pragma once
#include <string>

#include "models/core/state.h"

namespace torchstone::formats {

/// Loads a safetensors file as Python writes it. The file must hold every tensor of the model with its shape and dtype,
/// and no other. Three kinds may be missing: buffers that are not in the state_dict; all but one name of a tied tensor,
/// because Python's save_model keeps one (several must agree); and num_batches_tracked, which old weights lack. Throws
/// std::runtime_error that lists all differences, and leaves the model as it was.
void load_weights(Model& model, const std::string& path);
/// Writes the state_dict, a tied tensor under each of its names. Throws std::runtime_error.
void save_weights(const Model& model, const std::string& path);

}  // namespace torchstone::formats
