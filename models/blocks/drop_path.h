#pragma once
#include <torch/torch.h>

namespace torchstone {

/// In training a residual branch is left out for a random part of the batch, and scaled up for the rest (Huang
/// et al., "Deep networks with stochastic depth", 2016).
struct DropPathImpl : torch::nn::Module {
  explicit DropPathImpl(double rate) : p(rate) {}
  torch::Tensor forward(const torch::Tensor& x) {
    if (!is_training() || p == 0) return x;
    std::vector<int64_t> sizes(static_cast<size_t>(x.dim()), 1);
    sizes[0] = x.size(0);
    return x * torch::empty(sizes, x.options()).bernoulli_(1 - p).div_(1 - p);
  }
  double p;  ///< probability that a sample's branch is left out
};
TORCH_MODULE(DropPath);

}  // namespace torchstone
