#pragma once
#include "models/blocks/layers.h"

namespace torchstone {

/// An image cut into squares, each projected: [N, channels, H, W] → [N, tokens, width].
struct PatchEmbedImpl : nn::Module {
  PatchEmbedImpl(int64_t patch, int64_t width, int64_t channels = 3)
      : proj(register_module("proj", conv(channels, width, patch, {.stride = patch}))) {}
  torch::Tensor forward(torch::Tensor images) { return proj(images).flatten(2).transpose(1, 2); }
  nn::Conv2d proj;
};
TORCH_MODULE(PatchEmbed);

}  // namespace torchstone
