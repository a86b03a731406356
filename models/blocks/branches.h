#pragma once
#include "models/blocks/chain.h"

namespace torchstone {

/// Several ways through a block, joined along the channels. A way may end in a fork: two layers side by side.
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

}  // namespace torchstone
