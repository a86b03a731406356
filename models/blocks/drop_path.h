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
    const auto drawn = x.scalar_type() == torch::kDouble ? torch::kFloat : x.scalar_type();
    auto kept = torch::empty(sizes, x.options().dtype(drawn)).bernoulli_(1 - p);
    if (drawn != x.scalar_type()) kept = kept.to(x.scalar_type());
    return x * kept.div_(1 - p);
  }
  double p;  ///< probability that a sample's branch is left out
};
TORCH_MODULE(DropPath);

}  // namespace torchstone
