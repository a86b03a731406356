#pragma once
#include "models/blocks/chain.h"

namespace torchstone {

/// x + body(x), or body(x) alone where the shapes differ. The body is the child of this name.
struct SkipImpl : torch::nn::Module {
  SkipImpl(const std::string& name, Chain layers, bool adds_input = true)
      : body(register_module(name, std::move(layers))), adds(adds_input) {}
  torch::Tensor forward(torch::Tensor x) { return adds ? x + body(x) : body(x); }
  Chain body;
  bool adds;
};
TORCH_MODULE(Skip);

}  // namespace torchstone
