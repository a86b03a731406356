#pragma once
#include <map>
#include <string>

#include "models/core/model.h"

namespace torchstone {

/// Parameters and buffers by name, as Python's state_dict has them, constants included. A tied tensor stands under each
/// of its names.
using State = std::map<std::string, torch::Tensor>;
State state_of(const Model& model);

/// Loads a safetensors file as Python writes it. Every tensor of the model must be there with its shape and dtype, and
/// nothing else, except that these may be missing: constants, all but one name of a tied tensor (Python's save_model
/// keeps one; several must agree), and num_batches_tracked (absent from weights older than it). Throws
/// std::runtime_error that lists all differences; the model is untouched then.
void load_weights(Model& model, const std::string& path);
/// Writes the state_dict (without constants, tied tensors under each name). Throws std::runtime_error.
void save_weights(const Model& model, const std::string& path);

/// Parameters and buffers of `from` into the tensors of the same names of `to`, cast to their dtype and device:
/// "make again, copy state" is how a model is copied. Throws std::invalid_argument when names or shapes differ.
void copy_state(const Model& from, Model& to);

}  // namespace torchstone
