#pragma once
#include "models/blocks/activation.h"
#include "models/blocks/layers.h"

namespace torchstone {

struct SqueezeExciteShape {
  int64_t channels, squeezed;
  Act act = Act::relu;
  Act gate = Act::sigmoid;
  const char* reduce = "fc1";  ///< the names of the two convolutions
  const char* expand = "fc2";
};

/// Channels scaled by a gate on their mean over the image: x * gate(expand(act(reduce(mean of x)))) (Hu, Shen, Sun,
/// "Squeeze-and-excitation networks", 2017). [N, C, H, W] → the same.
struct SqueezeExciteImpl : nn::Module {
  explicit SqueezeExciteImpl(const SqueezeExciteShape& shape)
      : reduce(register_module(shape.reduce, conv(shape.channels, shape.squeezed, 1))),
        expand(register_module(shape.expand, conv(shape.squeezed, shape.channels, 1))),
        act(shape.act),
        gate(shape.gate) {}
  torch::Tensor forward(torch::Tensor x) {
    return x * activate(gate, expand(activate(act, reduce(torch::adaptive_avg_pool2d(x, {1, 1})))));
  }
  nn::Conv2d reduce, expand;
  Act act, gate;
};
TORCH_MODULE(SqueezeExcite);

}  // namespace torchstone
