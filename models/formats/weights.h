#pragma once
#include <string>

#include "models/core/state.h"

namespace torchstone::formats {

/// Loads a safetensors file as Python writes it. Every tensor of the model must be there with its shape and dtype, and
/// nothing else, except that these may be missing: constants, all but one name of a tied tensor (Python's save_model
/// keeps one; several must agree), and num_batches_tracked (absent from weights older than it). Throws
/// std::runtime_error that lists all differences; the model is untouched then.
void load_weights(Model& model, const std::string& path);
/// Writes the state_dict (without constants, tied tensors under each name). Throws std::runtime_error.
void save_weights(const Model& model, const std::string& path);

}  // namespace torchstone::formats
