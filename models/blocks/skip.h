#pragma once
#include "models/blocks/chain.h"

namespace torchstone {

/// x + layers(x), or layers(x) alone where the shapes differ. The layers are children of the block itself.
struct SkipChainImpl : ChainImpl {
  explicit SkipChainImpl(bool adds_input) : adds(adds_input) {}
  torch::Tensor forward(torch::Tensor x) { return adds ? x + ChainImpl::forward(x) : ChainImpl::forward(x); }
  bool adds;
};
TORCH_MODULE(SkipChain);

/// The same with the layers in a child of this name.
struct SkipImpl : torch::nn::Module {
  SkipImpl(const std::string& name, Chain layers, bool adds_input = true)
      : body(register_module(name, std::move(layers))), adds(adds_input) {}
  torch::Tensor forward(torch::Tensor x) { return adds ? x + body(x) : body(x); }
  Chain body;
  bool adds;
};
TORCH_MODULE(Skip);

}  // namespace torchstone
