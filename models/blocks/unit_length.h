#pragma once
#include <torch/torch.h>

namespace torchstone {

/// x over its Euclidean norm along a dimension (torch.nn.functional.normalize).
inline torch::Tensor unit_length(const torch::Tensor& x, int64_t dim) {
  return x / x.norm(2, {dim}, /*keepdim=*/true).clamp_min(1e-12).expand_as(x);
}

}  // namespace torchstone
