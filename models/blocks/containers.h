#pragma once

#include <torch/torch.h>

namespace torchstone {

/// A Sequential of tensor → tensor layers that can be nested in a Sequential, as in the originals
/// (`features.0.1.weight`). LibTorch's own cannot, because its forward is a template.
struct ChainImpl : torch::nn::SequentialImpl {
  using torch::nn::SequentialImpl::SequentialImpl;
  torch::Tensor forward(torch::Tensor x) { return is_empty() ? x : torch::nn::SequentialImpl::forward(x); }
};
TORCH_MODULE(Chain);

/// Returns a chain of named layers: chain({{"conv", …}, {"bn", …}}).
inline Chain chain(std::initializer_list<torch::nn::NamedAnyModule> layers) {
  return Chain(std::make_shared<ChainImpl>(layers));
}

/// Returns a module without forward that gives its children a common prefix.
inline torch::nn::ModuleDict group(std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> children) {
  return torch::nn::ModuleDict(std::move(children));
}

/// Returns layers of one type as a list, to be registered under one name. The owner calls them one by one.
template <class Layer>
torch::nn::ModuleList list_of(const std::vector<Layer>& layers) {
  torch::nn::ModuleList list;
  for (const auto& layer : layers) list->push_back(layer);
  return list;
}

/// Several branches of a block, concatenated along the channels. A branch may end in two parallel layers.
struct BranchesImpl : torch::nn::Module {
  struct Way {
    std::vector<Chain> layers;
    std::vector<Chain> fork{};
  };
  torch::Tensor forward(torch::Tensor x) {
    std::vector<torch::Tensor> maps;
    for (auto& way : ways) {
      auto y = x;
      for (auto& layer : way.layers) y = layer(y);
      if (way.fork.empty()) maps.push_back(y);
      for (auto& end : way.fork) maps.push_back(end(y));
    }
    return torch::cat(maps, 1);
  }
  std::vector<Way> ways;
};
TORCH_MODULE(Branches);

/// x + layers(x), or only layers(x) if the shapes differ. The layers are children of the block itself.
struct SkipChainImpl : ChainImpl {
  explicit SkipChainImpl(bool adds_input) : adds(adds_input) {}
  torch::Tensor forward(torch::Tensor x) { return adds ? x + ChainImpl::forward(x) : ChainImpl::forward(x); }
  bool adds;
};
TORCH_MODULE(SkipChain);

/// Like SkipChain, but with the layers in a child of this name.
struct SkipImpl : torch::nn::Module {
  SkipImpl(const std::string& name, Chain layers, bool adds_input = true)
      : body(register_module(name, std::move(layers))), adds(adds_input) {}
  torch::Tensor forward(torch::Tensor x) { return adds ? x + body(x) : body(x); }
  Chain body;
  bool adds;
};
TORCH_MODULE(Skip);

/// Stochastic depth (Huang et al., "Deep networks with stochastic depth", 2016). In training, a residual branch is
/// dropped for a random part of the batch, and scaled up for the rest.
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
  double p;  ///< probability that a sample's branch is dropped
};
TORCH_MODULE(DropPath);

}  // namespace torchstone
