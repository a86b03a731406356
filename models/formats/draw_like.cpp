#include "models/formats/draw_like.h"

namespace torchstone::formats {

torch::Tensor draw_like(const torch::Tensor& example) {
  if (example.is_floating_point() && (example.numel() == 0 || example.isfinite().all().item<bool>())) {
    const auto mean = example.mean();
    return mean + torch::randn_like(example) * (example - mean).square().mean().sqrt();
  }
  return example.flatten().index_select(0, torch::randperm(example.numel())).view(example.sizes());
}

torch::Tensor with_size(const torch::Tensor& example, int64_t dimension, int64_t size) {
  return example.index_select(dimension, torch::arange(size).remainder(example.size(dimension)));
}

}  // namespace torchstone::formats
