#pragma once
#include <torch/torch.h>

namespace torchstone {

enum class Act { none, relu, relu6, hardswish, silu, gelu, tanh_gelu, sigmoid, hardsigmoid };

/// Element by element; into a new tensor, so that it suits any input.
inline torch::Tensor activate(Act act, const torch::Tensor& x) {
  switch (act) {
    case Act::none:
      return x;
    case Act::relu:
      return torch::relu(x);
    case Act::relu6:
      return torch::hardtanh(x, 0, 6);
    case Act::hardswish:
      return torch::hardswish(x);
    case Act::silu:
      return torch::silu(x);
    case Act::gelu:
      return torch::gelu(x);
    case Act::tanh_gelu:
      return torch::gelu(x, "tanh");
    case Act::sigmoid:
      return torch::sigmoid(x);
    case Act::hardsigmoid:
      return torch::hardsigmoid(x);
  }
  throw std::invalid_argument("no such activation");
}

/// The same as a layer without parameters, so that a Sequential counts it as Python's does.
inline torch::nn::Functional activation(Act act) {
  return torch::nn::Functional([act](const torch::Tensor& x) { return activate(act, x); });
}

}  // namespace torchstone
