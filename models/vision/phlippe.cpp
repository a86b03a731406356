// A ResNet and a DenseNet for small images, from a university course.
// Papers: He, Zhang, Ren, Sun, "Deep residual learning for image recognition", 2015; Huang, Liu, van der Maaten,
// Weinberger, "Densely connected convolutional networks", 2016. Original: pytorch/benchmark phlippe_resnet and
// phlippe_densenet (from phlippe/uvadlc_notebooks_benchmarking, Tutorial 5). Input [N, 3, 32, 32] → logits [N, 10];
// 272,378 (phlippe_resnet) and 239,146 (phlippe_densenet) parameters. mini: stages of 1 block, or of 2 layers.
#include <string>
#include <vector>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::phlippe {
namespace {

constexpr int64_t side = 32, class_count = 10;
using Depths = std::vector<int64_t>;

nn::Functional plain_relu() { return activation(Act::relu); }

/// relu(net(x) + x). If it halves the image, a 1x1 convolution does that to x too.
Block plain_block(int64_t in, int64_t out, bool halves) {
  Block block;
  auto net = block.add("net", Chain(conv3x3(in, out, halves ? 2 : 1), nn::BatchNorm2d(out), plain_relu(),
                                    conv3x3(out, out), nn::BatchNorm2d(out)));
  nn::Conv2d shortcut{nullptr};
  if (halves) shortcut = block.add("downsample", conv(in, out, 1, {.stride = 2}));
  return block.running(
      [=](const torch::Tensor& x) mutable { return torch::relu(net(x) + (shortcut ? shortcut(x) : x)); });
}

class SmallResNet : public Layered<ImageModel> {
 public:
  explicit SmallResNet(const Depths& depths) : Layered(side, /*step=*/4) {
    int64_t in = 16;
    add("input_net", Chain(conv3x3(3, in), nn::BatchNorm2d(in), plain_relu()));
    Chain blocks;
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      for (int64_t i = 0; i < depths[stage]; ++i) {
        const int64_t out = 16 << stage;
        blocks->push_back(plain_block(in, out, stage > 0 && i == 0));
        in = out;
      }
    }
    add("blocks", blocks);
    add("output_net",
        Chain(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1)), nn::Flatten(), nn::Linear(in, class_count)));
    init_convolutions_he(*this);
  }
};

TORCHSTONE_MODEL(phlippe_resnet, .family = "phlippe", .suites = {"torchbench"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 272'378, .make = by_preset<SmallResNet>(Depths{3, 3, 3}, Depths{1, 1, 1}));

constexpr int64_t growth = 16, bottleneck_width = 2 * growth;

/// Returns the new maps of a layer before those it was given.
Block growing_layer(int64_t in) {
  Block block;
  auto net =
      block.add("net", Chain(nn::BatchNorm2d(in), plain_relu(), conv1x1(in, bottleneck_width),
                             nn::BatchNorm2d(bottleneck_width), plain_relu(), conv3x3(bottleneck_width, growth)));
  return block.running([=](const torch::Tensor& x) mutable { return torch::cat({net(x), x}, 1); });
}

/// Returns a module that runs these layers as a child of this name.
Block in_child(const std::string& name, const Chain& layers) {
  Block block;
  auto child = block.add(name, layers);
  return block.running([=](const torch::Tensor& x) mutable { return child(x); });
}

class SmallDenseNet : public Layered<ImageModel> {
 public:
  explicit SmallDenseNet(const Depths& depths) : Layered(side, /*step=*/8) {
    int64_t channels = bottleneck_width;
    add("input_net", Chain(conv(3, channels, 3, {.padding = 1})));
    Chain blocks;
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      if (stage > 0) {
        blocks->push_back(
            in_child("transition", Chain(nn::BatchNorm2d(channels), plain_relu(), conv1x1(channels, channels / 2),
                                         nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2)))));
        channels /= 2;
      }
      Chain layers;
      for (int64_t i = 0; i < depths[stage]; ++i) layers->push_back(growing_layer(channels + i * growth));
      channels += depths[stage] * growth;
      blocks->push_back(in_child("block", layers));
    }
    add("blocks", blocks);
    add("output_net",
        Chain(nn::BatchNorm2d(channels), plain_relu(), nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1)),
              nn::Flatten(), nn::Linear(channels, class_count)));
    each_layer<nn::Conv2d>(*this, [](auto& layer) { nn::init::kaiming_normal_(layer.weight); });
  }
};

TORCHSTONE_MODEL(phlippe_densenet, .family = "phlippe", .suites = {"torchbench"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 239'146, .make = by_preset<SmallDenseNet>(Depths{6, 6, 6, 6}, Depths{2, 2, 2, 2}));

}  // namespace
}  // namespace torchstone::phlippe
