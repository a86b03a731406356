#pragma once
#include <torch/torch.h>

namespace torchstone {

/// A module without forward that only gives its children a common prefix.
inline torch::nn::ModuleDict group(std::vector<std::pair<std::string, std::shared_ptr<torch::nn::Module>>> children) {
  return torch::nn::ModuleDict(std::move(children));
}

/// A list of layers of one kind, to be called one by one and registered under one name.
template <class Layer>
torch::nn::ModuleList list_of(const std::vector<Layer>& layers) {
  torch::nn::ModuleList list;
  for (const auto& layer : layers) list->push_back(layer);
  return list;
}

}  // namespace torchstone
