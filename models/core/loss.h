#pragma once
#include <torch/torch.h>

namespace torchstone {

/// Upstream's loss of an output without labels (torch/_dynamo/testing.py, reduce_to_scalar_loss): the sum of a tensor
/// over its number of elements; the mean of that over lists, tuples and the values of a dict. Returns a 0-d tensor.
/// Throws std::invalid_argument for anything else and for empty containers.
torch::Tensor reduce_to_scalar_loss(const c10::IValue& output);

}  // namespace torchstone
