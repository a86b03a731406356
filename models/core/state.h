#pragma once
#include <map>
#include <string>

#include <torchstone/model.h>

namespace torchstone {

/// Parameters and buffers by their state_dict names, with the buffers that a state_dict leaves out. A tied tensor
/// appears under each of its names.
using State = std::map<std::string, torch::Tensor>;
State state_of(const Model& model);

/// Copies the parameters and buffers of `from` into those of `to`, by name, and casts them to their dtype and device. A
/// model is copied by making it again and copying its state. Throws std::invalid_argument when names or shapes differ.
void copy_state(const Model& from, Model& to);

}  // namespace torchstone
