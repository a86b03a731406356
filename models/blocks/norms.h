#pragma once
#include "models/blocks/layers.h"

namespace torchstone {

inline nn::LayerNorm layer_norm(int64_t width, double eps = 1e-6) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(eps));
}

/// LayerNorm over the channels of [N, C, H, W].
struct ChannelNormImpl : nn::LayerNormImpl {
  explicit ChannelNormImpl(int64_t channels, double eps = 1e-6)
      : nn::LayerNormImpl(nn::LayerNormOptions({channels}).eps(eps)) {}
  torch::Tensor forward(torch::Tensor x) {
    return nn::LayerNormImpl::forward(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
  }
};
TORCH_MODULE(ChannelNorm);

/// x over its root mean square, times a weight (Zhang, Sennrich, "Root mean square layer normalization", 2019). Half
/// precision is squared in float32.
struct RmsNormImpl : nn::Module {
  explicit RmsNormImpl(int64_t width, double epsilon = 1e-6)
      : weight(register_parameter("weight", torch::ones({width}))), eps(epsilon) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto wide = x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32);
    return weight * (wide * torch::rsqrt(wide.pow(2).mean(-1, /*keepdim=*/true) + eps)).to(x.scalar_type());
  }
  torch::Tensor weight;
  double eps;
};
TORCH_MODULE(RmsNorm);

/// The initial value of a learned scale of a residual branch (LayerScale). The originals start at about 1e-6. An
/// untrained branch would then contribute too little for an error in it to be detected.
constexpr double first_layer_scale = 0.5;
inline torch::Tensor first_scale(int64_t width) { return torch::full({width}, first_layer_scale); }

}  // namespace torchstone
