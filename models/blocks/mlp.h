#pragma once
#include "models/blocks/activation.h"
#include "models/blocks/layers.h"

namespace torchstone {

/// fc2(act(fc1(x))) over the last dimension, back to its width.
struct MlpImpl : nn::Module {
  MlpImpl(int64_t width, int64_t hidden, Act activation = Act::gelu)
      : fc1(register_module("fc1", nn::Linear(width, hidden))),
        fc2(register_module("fc2", nn::Linear(hidden, width))),
        act(activation) {}
  torch::Tensor forward(torch::Tensor x) { return fc2(activate(act, fc1(x))); }
  nn::Linear fc1, fc2;
  Act act;
};
TORCH_MODULE(Mlp);

}  // namespace torchstone
