#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/blocks/basic_layers.h"

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

/// Returns the convolution of conv_norm(): odd kernel, without bias, padded so that stride 1 keeps the size.
inline nn::Conv2d same_conv(int64_t in, int64_t out, const ConvNorm& shape) {
  return conv(in, out, shape.kernel,
              {.stride = shape.stride,
               .padding = (shape.kernel - 1) / 2 * shape.dilation,
               .groups = shape.groups,
               .bias = false,
               .dilation = shape.dilation});
}

/// TensorFlow's padding: if a stride does not divide the side, right and bottom get more than left and top.
inline torch::Tensor pad_as_tensorflow(const torch::Tensor& x, int64_t kernel, int64_t stride) {
  const auto missing = [&](int64_t size) {
    return std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + kernel - size);
  };
  const auto rows = missing(x.size(2)), columns = missing(x.size(3));
  return torch::constant_pad_nd(x, {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2});
}

/// Returns convolution, BatchNorm and activation as layers 0, 1 and 2 (torchvision.ops.Conv2dNormActivation).
inline Chain conv_norm(int64_t in, int64_t out, const ConvNorm& shape = {}) {
  Chain layers(same_conv(in, out, shape), batch_norm(out, shape.eps, shape.momentum));
  if (shape.act != Act::none) layers->push_back(activation(shape.act));
  return layers;
}

/// Returns convolution, BatchNorm and activation as children `conv` and `bn` (timm's ConvNormAct, torchvision's
/// BasicConv2d).
inline Chain named_conv_norm(int64_t in, int64_t out, const ConvNorm& shape = {}) {
  auto layers = chain({{"conv", same_conv(in, out, shape)}, {"bn", batch_norm(out, shape.eps, shape.momentum)}});
  if (shape.act != Act::none) layers->push_back("act", activation(shape.act));
  return layers;
}

/// Returns timm's classifier: a linear layer `fc` on the mean over the image.
inline Chain pooled_classifier(int64_t width, double dropout = 0) {
  if (dropout == 0) return chain({{"pool", average_pool()}, {"fc", nn::Linear(width, 1000)}});
  return chain({{"pool", average_pool()}, {"drop", nn::Dropout(dropout)}, {"fc", nn::Linear(width, 1000)}});
}

/// Returns timm's classifier with a norm between the mean over the image and the linear layer.
inline Chain normed_classifier(int64_t width) {
  return chain({{"pool", nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1))},
                {"norm", ChannelNorm(width)},
                {"flatten", nn::Flatten()},
                {"fc", nn::Linear(width, 1000)}});
}

struct SqueezeExciteShape {
  int64_t channels, squeezed;
  Act act = Act::relu;
  Act gate = Act::sigmoid;
  const char* reduce = "fc1";  ///< the names of the two convolutions
  const char* expand = "fc2";
};

/// Squeeze and excitation: scales the channels by a gate, x * gate(expand(act(reduce(mean of x over the image))))
/// (Hu, Shen, Sun, "Squeeze-and-excitation networks", 2017). [N, C, H, W] → the same.
inline Block squeeze_excite(const SqueezeExciteShape& shape) {
  Block block;
  auto reduce = block.add(shape.reduce, conv(shape.channels, shape.squeezed, 1));
  auto expand = block.add(shape.expand, conv(shape.squeezed, shape.channels, 1));
  return block.running([=, act = shape.act, gate = shape.gate](const torch::Tensor& x) mutable {
    return x * activate(gate, expand(activate(act, reduce(torch::adaptive_avg_pool2d(x, {1, 1})))));
  });
}

// The two blocks of ResNet, under the names of torchvision and timm.

inline nn::Conv2d conv1x1(int64_t in, int64_t out, int64_t stride = 1) {
  return conv(in, out, 1, {.stride = stride, .bias = false});
}
inline nn::Conv2d conv3x3(int64_t in, int64_t out, int64_t stride = 1, int64_t groups = 1) {
  return conv(in, out, 3, {.stride = stride, .padding = 1, .groups = groups, .bias = false});
}

/// Groups of a bottleneck's 3x3 convolution: their number, and the width of one in a stage of 64 channels.
struct Groups {
  int64_t count = 1, width = 64;
};

/// GroupNorm of 32 groups, or of one for each channel.
struct GroupNorm32Impl : nn::GroupNormImpl {
  explicit GroupNorm32Impl(int64_t channels)
      : nn::GroupNormImpl(nn::GroupNormOptions(std::min<int64_t>(32, channels), channels)) {}
};
TORCH_MODULE(GroupNorm32);

/// Adds the shortcut around a residual block: a strided 1x1 convolution if the shape changes, or else nothing.
template <class Norm = nn::BatchNorm2d>
Chain add_shortcut(Block& block, int64_t in, int64_t out, int64_t stride, const char* name = "downsample") {
  if (stride == 1 && in == out) return {};
  return block.add(name, Chain(conv1x1(in, out, stride), Norm(out)));
}

template <class Norm = nn::BatchNorm2d>
Block basic_block(int64_t in, int64_t width, int64_t stride = 1, Groups = {},
                  const char* shortcut_name = "downsample") {
  Block block;
  auto shortcut = add_shortcut<Norm>(block, in, width, stride, shortcut_name);
  auto conv1 = block.add("conv1", conv3x3(in, width, stride));
  auto bn1 = block.add("bn1", Norm(width));
  auto conv2 = block.add("conv2", conv3x3(width, width));
  auto bn2 = block.add("bn2", Norm(width));
  return block.running([=](const torch::Tensor& x) mutable {
    auto out = bn2(conv2(bn1(conv1(x)).relu_()));
    out += shortcut(x);
    return out.relu_();
  });
}

constexpr int64_t bottleneck_expansion = 4;

/// Returns a bottleneck with `planes` times bottleneck_expansion channels.
template <class Norm = nn::BatchNorm2d>
Block bottleneck(int64_t in, int64_t planes, int64_t stride = 1, Groups groups = {}) {
  const auto width = planes * groups.width / 64 * groups.count, wide = planes * bottleneck_expansion;
  Block block;
  auto shortcut = add_shortcut<Norm>(block, in, wide, stride);
  auto conv1 = block.add("conv1", conv1x1(in, width));
  auto bn1 = block.add("bn1", Norm(width));
  auto conv2 = block.add("conv2", conv3x3(width, width, stride, groups.count));
  auto bn2 = block.add("bn2", Norm(width));
  auto conv3 = block.add("conv3", conv1x1(width, wide));
  auto bn3 = block.add("bn3", Norm(wide));
  return block.running([=](const torch::Tensor& x) mutable {
    auto out = bn3(conv3(bn2(conv2(bn1(conv1(x)).relu_())).relu_()));
    out += shortcut(x);
    return out.relu_();
  });
}

/// The plan of the ResNets: a strided stem, stages `layer1`, `layer2`, … that double the width, and a classifier.
template <class Base, class Norm = nn::BatchNorm2d>
class ResidualNet : public Layered<Base> {
 public:
  /// `block` makes a block from its input channels, width and stride. It has `expansion` times its width as output.
  /// Sides below 64 do not vary.
  ResidualNet(int64_t side, const std::vector<int64_t>& depths, int64_t expansion,
              const std::function<Block(int64_t in, int64_t width, int64_t stride)>& block)
      : Layered<Base>(side, side < 64 ? 0 : 32) {
    int64_t in = 64;
    this->add("conv1", conv(3, in, 7, {.stride = 2, .padding = 3, .bias = false}));
    this->add("bn1", Norm(in));
    this->add(relu());
    this->add(max_pool(3, 2, {.padding = 1}));
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      const int64_t width = 64 << stage;
      Chain blocks;
      for (int64_t i = 0; i < depths[stage]; ++i) {
        blocks->push_back(block(in, width, stage > 0 && i == 0 ? 2 : 1));
        in = expansion * width;
      }
      this->add("layer" + std::to_string(stage + 1), blocks);
    }
    this->add(average_pool());
    this->add("fc", nn::Linear(in, 1000));
    init_convolutions_he(*this);
  }
};

/// Rounds to the nearest multiple of 8, but never down by more than a tenth (the rule of the MobileNets).
inline int64_t round_channels(double channels) {
  const auto rounded = std::max<int64_t>(8, static_cast<int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

// Blocks of MobileNetV3 (torchvision.models.mobilenetv3) and networks based on it.

/// A row of MobileNetV3's tables.
struct MobileBottleneck {
  int64_t in, kernel, expanded, out;
  bool squeezes;
  Act act;
  int64_t stride;
  int64_t dilation = 1;  ///< more than 1: replaces the stride
};

/// Adds MobileNetV3's settings of BatchNorm.
inline ConvNorm mobile_norm(ConvNorm shape) {
  shape.eps = 1e-3;
  shape.momentum = 0.01;
  return shape;
}

/// Returns expansion, depthwise convolution, gate and linear projection, added to the input if the shapes are equal.
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
    block->push_back(squeeze_excite({.channels = b.expanded, .squeezed = squeezed, .gate = Act::hardsigmoid}));
  }
  block->push_back(conv_norm(b.expanded, b.out, mobile_norm({.act = Act::none})));
  return Skip("block", block, b.stride == 1 && b.in == b.out);
}

/// Returns stem, bottlenecks and the last convolution, which has six times the channels.
inline Chain mobile_features(const std::vector<MobileBottleneck>& bottlenecks) {
  Chain features;
  features->push_back(conv_norm(3, bottlenecks[0].in, mobile_norm({.kernel = 3, .stride = 2, .act = Act::hardswish})));
  for (const auto& bottleneck : bottlenecks) features->push_back(mobile_bottleneck(bottleneck));
  const auto out = bottlenecks.back().out;
  features->push_back(conv_norm(out, 6 * out, mobile_norm({.act = Act::hardswish})));
  return features;
}

/// Returns the table of mobilenet_v3_large. `dilation` applies to its last three blocks.
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
