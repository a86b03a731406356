#pragma once
#include <torch/torch.h>

namespace torchstone {

/// Upstream's loss of an output without labels (torch/_dynamo/testing.py, reduce_to_scalar_loss), as a 0-d tensor: the
/// mean of a tensor's elements; for a list, tuple or dict the mean of the losses of its values. Throws
/// std::invalid_argument for anything else and for empty containers.
torch::Tensor reduce_to_scalar_loss(const c10::IValue& output);

}  // namespace torchstone
