#pragma once
#include "models/blocks/chain.h"

namespace torchstone {

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

}  // namespace torchstone
