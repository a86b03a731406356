#include "models/formats/draw_like.h"

#include <cmath>

namespace torchstone::formats {

torch::Tensor draw_like(const torch::Tensor& example) {
  if (example.numel() == 0) return example.clone();
  if (example.is_floating_point() && example.isfinite().all().item<bool>()) {
    const auto values = example.to(torch::kDouble);
    const double mean = values.mean().item<double>();
    const double spread = (values - mean).square().mean().sqrt().item<double>();
    const double deviation = spread > 0 ? spread : mean == 0 ? 1 : std::abs(mean);
    return (mean + torch::randn_like(values) * deviation).to(example.scalar_type());
  }
  return example.flatten().index_select(0, torch::randperm(example.numel())).view(example.sizes());
}

torch::Tensor with_size(const torch::Tensor& example, int64_t dimension, int64_t size) {
  return example.index_select(dimension, torch::arange(size).remainder(example.size(dimension)));
}

}  // namespace torchstone::formats
