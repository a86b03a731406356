#pragma once
#include <algorithm>
#include <cstdint>

#include "models/blocks/containers.h"
#include "models/blocks/conv_blocks.h"

namespace torchstone {

/// Nearest multiple of 8, but never more than a tenth below (the rule of the MobileNets).
inline int64_t round_channels(double channels) {
  const auto rounded = std::max<int64_t>(8, static_cast<int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

}  // namespace torchstone

// What MobileNetV3 and networks upon it share (torchvision.models.mobilenetv3).

namespace torchstone {

/// A row of MobileNetV3's tables.
struct MobileBottleneck {
  int64_t in, kernel, expanded, out;
  bool squeezes;
  Act act;
  int64_t stride;
  int64_t dilation = 1;  ///< more than 1: in place of the stride
};

/// MobileNetV3's settings of BatchNorm.
inline ConvNorm mobile_norm(ConvNorm shape) {
  shape.eps = 1e-3;
  shape.momentum = 0.01;
  return shape;
}

/// Expansion, depthwise convolution, gate and linear projection, added to the input where the shapes allow it.
inline Skip mobile_bottleneck(const MobileBottleneck& b) {
  Chain block;
  if (b.expanded != b.in) block->push_back(conv_norm(b.in, b.expanded, mobile_norm({.act = b.act})));
  block->push_back(conv_norm(b.expanded, b.expanded,
                             mobile_norm({.kernel = b.kernel,
                                          .stride = b.dilation > 1 ? 1 : b.stride,
                                          .groups = b.expanded,
                                          .dilation = b.dilation,
                                          .act = b.act})));
  if (b.squeezes) {
    const auto squeezed = round_channels(static_cast<double>(b.expanded / 4));
    block->push_back(
        SqueezeExcite(SqueezeExciteShape{.channels = b.expanded, .squeezed = squeezed, .gate = Act::hardsigmoid}));
  }
  block->push_back(conv_norm(b.expanded, b.out, mobile_norm({.act = Act::none})));
  return Skip("block", block, b.stride == 1 && b.in == b.out);
}

/// Stem, bottlenecks and the last convolution, which has six times the channels.
inline nn::Sequential mobile_features(const std::vector<MobileBottleneck>& bottlenecks) {
  nn::Sequential features(
      conv_norm(3, bottlenecks[0].in, mobile_norm({.kernel = 3, .stride = 2, .act = Act::hardswish})));
  for (const auto& bottleneck : bottlenecks) features->push_back(mobile_bottleneck(bottleneck));
  const auto out = bottlenecks.back().out;
  features->push_back(conv_norm(out, 6 * out, mobile_norm({.act = Act::hardswish})));
  return features;
}

/// The table of mobilenet_v3_large; `dilation` of its last three blocks.
inline std::vector<MobileBottleneck> mobile_large(int64_t dilation = 1) {
  constexpr auto RE = Act::relu, HS = Act::hardswish;
  return {{16, 3, 16, 16, false, RE, 1},
          {16, 3, 64, 24, false, RE, 2},
          {24, 3, 72, 24, false, RE, 1},
          {24, 5, 72, 40, true, RE, 2},
          {40, 5, 120, 40, true, RE, 1},
          {40, 5, 120, 40, true, RE, 1},
          {40, 3, 240, 80, false, HS, 2},
          {80, 3, 200, 80, false, HS, 1},
          {80, 3, 184, 80, false, HS, 1},
          {80, 3, 184, 80, false, HS, 1},
          {80, 3, 480, 112, true, HS, 1},
          {112, 3, 672, 112, true, HS, 1},
          {112, 5, 672, 160, true, HS, 2, dilation},
          {160, 5, 960, 160, true, HS, 1, dilation},
          {160, 5, 960, 160, true, HS, 1, dilation}};
}

}  // namespace torchstone
