#pragma once
#include <map>
#include <string>

#include <torchstone/model.h>

namespace torchstone {

/// Parameters and buffers by name, as Python's state_dict has them, constants included. A tied tensor stands under each
/// of its names.
using State = std::map<std::string, torch::Tensor>;
State state_of(const Model& model);

/// Parameters and buffers of `from` into the tensors of the same names of `to`, cast to their dtype and device:
/// "make again, copy state" is how a model is copied. Throws std::invalid_argument when names or shapes differ.
void copy_state(const Model& from, Model& to);

}  // namespace torchstone
