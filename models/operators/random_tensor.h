#pragma once
#include <torch/torch.h>

#include "models/operators/tensor_spec.h"

namespace torchstone::operators {

/// Random values as upstream draws them (torch.testing.make_tensor on the CPU): real and complex numbers uniform in
/// [-9, 9), integers from -9 to 9 (unsigned ones from 0), booleans with probability 1/2. Floating-point tensors are
/// float32.
torch::Tensor random_tensor(const TensorSpec& spec);
/// The same numbers in channels-last order where the tensor has four or five dimensions.
torch::Tensor in_channels_last(const torch::Tensor& tensor);

}  // namespace torchstone::operators
