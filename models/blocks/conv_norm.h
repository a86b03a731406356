#pragma once
#include "models/blocks/activation.h"
#include "models/blocks/chain.h"
#include "models/blocks/layers.h"

namespace torchstone {

inline nn::BatchNorm2d batch_norm(int64_t channels, double eps = 1e-5, double momentum = 0.1) {
  return nn::BatchNorm2d(nn::BatchNorm2dOptions(channels).eps(eps).momentum(momentum));
}

struct ConvNorm {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t groups = 1;
  int64_t dilation = 1;
  Act act = Act::relu;
  double eps = 1e-5;
  double momentum = 0.1;
};

/// The convolution of conv_norm: odd kernel, without bias, padded so that stride 1 keeps the size.
inline nn::Conv2d same_conv(int64_t in, int64_t out, const ConvNorm& shape) {
  return conv(in, out, shape.kernel,
              {.stride = shape.stride,
               .padding = (shape.kernel - 1) / 2 * shape.dilation,
               .groups = shape.groups,
               .bias = false,
               .dilation = shape.dilation});
}

/// Convolution, BatchNorm and activation as layers 0, 1 and 2 (torchvision.ops.Conv2dNormActivation).
inline Chain conv_norm(int64_t in, int64_t out, const ConvNorm& shape = {}) {
  Chain layers(same_conv(in, out, shape), batch_norm(out, shape.eps, shape.momentum));
  if (shape.act != Act::none) layers->push_back(activation(shape.act));
  return layers;
}

}  // namespace torchstone
