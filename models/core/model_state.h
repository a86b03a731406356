#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <torchstone/model.h>

namespace torchstone {

/// Parameters and buffers by their state_dict names, including the buffers that a state_dict omits. A tied tensor
/// appears under each of its names.
using State = std::map<std::string, torch::Tensor>;
State state_of(const Model& model);

/// Copies the parameters and buffers of `from` to those of `to` with the same name. Casts them to the dtype and device
/// of `to`. Throws std::invalid_argument when names or shapes differ.
void copy_state(const Model& from, Model& to);
void copy_state(const State& source, Model& to);

/// Returns the dtype that a tensor of dtype `own` has after a model or its inputs are cast to `dtype`. Complex numbers
/// stay complex: complex64 in float32, complex128 in float64, unchanged in 16 bits, for which there are few kernels.
/// Integers and booleans keep their dtype.
torch::Dtype dtype_after_cast(torch::Dtype own, torch::Dtype dtype);

}  // namespace torchstone
