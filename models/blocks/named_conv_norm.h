#pragma once
#include "models/blocks/conv_norm.h"

namespace torchstone {

/// Convolution, BatchNorm and activation as children `conv` and `bn` (timm's ConvNormAct, torchvision's BasicConv2d).
inline Chain named_conv_norm(int64_t in, int64_t out, const ConvNorm& shape = {}) {
  auto layers = chain({{"conv", same_conv(in, out, shape)}, {"bn", batch_norm(out, shape.eps, shape.momentum)}});
  if (shape.act != Act::none) layers->push_back("act", activation(shape.act));
  return layers;
}

}  // namespace torchstone
