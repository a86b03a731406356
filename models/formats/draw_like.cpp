#include "models/formats/draw_like.h"

namespace torchstone::formats {

torch::Tensor draw_like(const torch::Tensor& example) {
  if (example.is_floating_point() && (example.numel() == 0 || example.isfinite().all().item<bool>())) {
    const auto mean = example.mean();
    return mean + torch::randn_like(example) * (example - mean).square().mean().sqrt();
  }
  return example.flatten().index_select(0, torch::randperm(example.numel())).view(example.sizes());
}

torch::Tensor with_rows(const torch::Tensor& example, int64_t batch) {
  return example.index_select(0, torch::arange(batch).remainder(example.size(0)));
}

}  // namespace torchstone::formats
