#pragma once
#include <torch/torch.h>

namespace torchstone {

/// A Sequential of tensor → tensor layers that may stand inside a Sequential: LibTorch's own has a template as forward
/// and cannot be nested, but the originals nest (`features.0.1.weight`).
struct ChainImpl : torch::nn::SequentialImpl {
  using torch::nn::SequentialImpl::SequentialImpl;
  torch::Tensor forward(torch::Tensor x) { return is_empty() ? x : torch::nn::SequentialImpl::forward(x); }
};
TORCH_MODULE(Chain);

/// A chain of layers under names of their own: chain({{"conv", …}, {"bn", …}}).
inline Chain chain(std::initializer_list<torch::nn::NamedAnyModule> layers) {
  return Chain(std::make_shared<ChainImpl>(layers));
}

}  // namespace torchstone
