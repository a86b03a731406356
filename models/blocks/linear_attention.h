#pragma once
// A causal convolution over time, and other parts of models that keep a state in the place of keys and values.
#include <utility>

#include "models/blocks/basic_layers.h"

namespace torchstone {

/// Depthwise convolution over time that sees no later step, and SiLU. A step that decodes sees the inputs before it.
struct CausalConvImpl : nn::Conv1dImpl {
  CausalConvImpl(int64_t channels, int64_t kernel, bool has_bias)
      : nn::Conv1dImpl(nn::Conv1dOptions(channels, channels, kernel).groups(channels).bias(has_bias)) {}

  /// A prompt [N, C, L] → (outputs [N, C, L], its last inputs [N, C, kernel]).
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x) {
    const auto kernel = weight.size(2), steps = x.size(2);
    return {torch::silu(convolve(x, kernel - 1).slice(2, 0, steps)), torch::constant_pad_nd(x, {kernel - steps, 0})};
  }

  /// One more step [N, C, 1] after these last inputs → the same.
  std::pair<torch::Tensor, torch::Tensor> forward(const torch::Tensor& x, const torch::Tensor& last) {
    const auto all = torch::cat({last, x}, 2);
    return {torch::silu(convolve(all, 0).slice(2, -1)), all.slice(2, -last.size(2))};
  }

 private:
  torch::Tensor convolve(const torch::Tensor& x, int64_t padding) const {
    return at::conv1d(x, weight, bias, /*stride=*/1, at::IntArrayRef(padding), /*dilation=*/1, weight.size(0));
  }
};
TORCH_MODULE(CausalConv);

/// Returns how many steps of padding make `steps` a multiple of `chunk`.
inline int64_t chunk_padding(int64_t steps, int64_t chunk) { return (chunk - steps % chunk) % chunk; }

}  // namespace torchstone
