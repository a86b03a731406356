#pragma once

#include "models/blocks/containers.h"
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

/// Convolution, BatchNorm and activation as children `conv` and `bn` (timm's ConvNormAct, torchvision's BasicConv2d).
inline Chain named_conv_norm(int64_t in, int64_t out, const ConvNorm& shape = {}) {
  auto layers = chain({{"conv", same_conv(in, out, shape)}, {"bn", batch_norm(out, shape.eps, shape.momentum)}});
  if (shape.act != Act::none) layers->push_back("act", activation(shape.act));
  return layers;
}

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

// The two blocks of ResNet, under the names of torchvision and timm.

namespace torchstone {

inline nn::Conv2d conv1x1(int64_t in, int64_t out, int64_t stride = 1) {
  return conv(in, out, 1, {.stride = stride, .bias = false});
}
inline nn::Conv2d conv3x3(int64_t in, int64_t out, int64_t stride = 1, int64_t groups = 1) {
  return conv(in, out, 3, {.stride = stride, .padding = 1, .groups = groups, .bias = false});
}

/// How many groups the 3x3 convolutions of bottlenecks have, and how wide one is where the stage has 64 channels.
struct Groups {
  int64_t count = 1, width = 64;
};

/// relu(body(x) + shortcut(x)), where the shortcut is a strided 1x1 convolution when the shape changes.
struct ResidualImpl : nn::Module {
  ResidualImpl(int64_t in, int64_t out, int64_t stride) {
    if (stride != 1 || in != out) {
      downsample = register_module("downsample", nn::Sequential(conv1x1(in, out, stride), nn::BatchNorm2d(out)));
    }
  }
  virtual torch::Tensor body(torch::Tensor x) = 0;
  torch::Tensor forward(torch::Tensor x) {
    auto out = body(x);
    out += downsample ? downsample->forward(x) : x;
    return out.relu_();
  }
  nn::Sequential downsample{nullptr};
};

struct BasicBlockImpl : ResidualImpl {
  static constexpr int64_t expansion = 1;
  BasicBlockImpl(int64_t in, int64_t width, int64_t stride = 1, Groups = {}) : ResidualImpl(in, width, stride) {
    conv1 = register_module("conv1", conv3x3(in, width, stride));
    bn1 = register_module("bn1", nn::BatchNorm2d(width));
    conv2 = register_module("conv2", conv3x3(width, width));
    bn2 = register_module("bn2", nn::BatchNorm2d(width));
  }
  torch::Tensor body(torch::Tensor x) override { return bn2(conv2(bn1(conv1(x)).relu_())); }
  nn::Conv2d conv1{nullptr}, conv2{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};
};
TORCH_MODULE(BasicBlock);

struct BottleneckImpl : ResidualImpl {
  static constexpr int64_t expansion = 4;
  BottleneckImpl(int64_t in, int64_t planes, int64_t stride = 1, Groups groups = {})
      : ResidualImpl(in, planes * expansion, stride) {
    const auto width = planes * groups.width / 64 * groups.count;
    conv1 = register_module("conv1", conv1x1(in, width));
    bn1 = register_module("bn1", nn::BatchNorm2d(width));
    conv2 = register_module("conv2", conv3x3(width, width, stride, groups.count));
    bn2 = register_module("bn2", nn::BatchNorm2d(width));
    conv3 = register_module("conv3", conv1x1(width, planes * expansion));
    bn3 = register_module("bn3", nn::BatchNorm2d(planes * expansion));
  }
  torch::Tensor body(torch::Tensor x) override { return bn3(conv3(bn2(conv2(bn1(conv1(x)).relu_())).relu_())); }
  nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
  nn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, bn3{nullptr};
};
TORCH_MODULE(Bottleneck);

}  // namespace torchstone
