#pragma once
// Initialisations that several architectures share. Draws come from torch's default generator.
#include <torch/torch.h>

namespace torchstone {

/// Calls `visit` with every layer of one kind below `root`: each_layer<torch::nn::Conv2d>(model, [](auto& conv) { … }).
template <class Layer, class Visit>
void each_layer(torch::nn::Module& root, Visit visit) {
  for (const auto& module : root.modules(/*include_self=*/false)) {
    if (auto* layer = module->template as<Layer>()) visit(*layer);
  }
}

/// Convolutions: normal with variance 2 / fan_out (He et al. 2015, as torchvision applies it); bias 0.
void init_convolutions_he(torch::nn::Module& root);
/// Linear layers: normal with this deviation; bias 0.
void init_linears_normal(torch::nn::Module& root, double deviation);

}  // namespace torchstone
