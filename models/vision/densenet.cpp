// DenseNet: every layer of a block takes the maps of all earlier layers.
// Paper: Huang, Liu, van der Maaten, Weinberger, "Densely connected convolutional networks", 2016.
// Original: torchvision.models.densenet121 and its sizes. Input [N, 3, 224, 224] → logits [N, 1000]; 7,978,856
// (densenet121), 28,681,000 (161), 14,149,480 (169) and 20,013,928 (201) parameters.
// mini: growth 12, blocks of 3, 3, 2 and 2 layers, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::densenet {
namespace {

struct DenseShape {
  std::vector<int64_t> depths;
  int64_t growth = 32, stem = 64, side = 224;
};

Chain dense_layer(int64_t in, int64_t growth) {
  const auto bottleneck = 4 * growth;
  return chain({{"norm1", nn::BatchNorm2d(in)},
                {"relu1", relu()},
                {"conv1", conv(in, bottleneck, 1, {.bias = false})},
                {"norm2", nn::BatchNorm2d(bottleneck)},
                {"relu2", relu()},
                {"conv2", conv(bottleneck, growth, 3, {.padding = 1, .bias = false})}});
}

Block dense_block(int64_t in, int64_t depth, int64_t growth) {
  Block block;
  std::vector<Chain> layers;
  for (int64_t i = 0; i < depth; ++i)
    layers.push_back(block.add("denselayer" + std::to_string(i + 1), dense_layer(in + i * growth, growth)));
  return block.running([=](torch::Tensor x) mutable {
    Tensors maps = {x};
    for (auto& layer : layers) maps.push_back(layer(torch::cat(maps, 1)));
    return torch::cat(maps, 1);
  });
}

Chain transition(int64_t in) {
  return chain({{"norm", nn::BatchNorm2d(in)},
                {"relu", relu()},
                {"conv", conv(in, in / 2, 1, {.bias = false})},
                {"pool", nn::AvgPool2d(nn::AvgPool2dOptions(2).stride(2))}});
}

class DenseNet : public Layered<ImageModel> {
 public:
  explicit DenseNet(const DenseShape& shape) : Layered(shape.side, 32) {
    Chain features;
    auto channels = shape.stem;
    features->push_back("conv0", conv(3, channels, 7, {.stride = 2, .padding = 3, .bias = false}));
    features->push_back("norm0", nn::BatchNorm2d(channels));
    features->push_back("relu0", relu());
    features->push_back("pool0", max_pool(3, 2, {.padding = 1}));
    for (size_t i = 0; i < shape.depths.size(); ++i) {
      const auto number = std::to_string(i + 1);
      features->push_back("denseblock" + number, dense_block(channels, shape.depths[i], shape.growth));
      channels += shape.depths[i] * shape.growth;
      if (i + 1 == shape.depths.size()) break;
      features->push_back("transition" + number, transition(channels));
      channels /= 2;
    }
    features->push_back("norm5", nn::BatchNorm2d(channels));
    nn::Linear classifier(channels, 1000);
    add("features", features);
    add(activation(Act::relu));
    add(average_pool());
    add("classifier", classifier);
    each_layer<nn::Conv2d>(*this, [](auto& layer) { nn::init::kaiming_normal_(layer.weight); });
    nn::init::zeros_(classifier->bias);
  }
};

auto make(const DenseShape& full) {
  return by_preset<DenseNet>(full, DenseShape{.depths = {3, 3, 2, 2}, .growth = 12, .stem = 24, .side = 64});
}

TORCHSTONE_MODEL(densenet121, .family = "densenet", .suites = {"torchbench"}, .train_batch = 256, .eval_batch = 64,
                 .parameters = 7'978'856, .make = make({.depths = {6, 12, 24, 16}}));
TORCHSTONE_MODEL(densenet161, .family = "densenet", .suites = {"torchvision"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 28'681'000, .make = make({.depths = {6, 12, 36, 24}, .growth = 48, .stem = 96}));
TORCHSTONE_MODEL(densenet169, .family = "densenet", .suites = {"torchvision"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 14'149'480, .make = make({.depths = {6, 12, 32, 32}}));
TORCHSTONE_MODEL(densenet201, .family = "densenet", .suites = {"torchvision"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 20'013'928, .make = make({.depths = {6, 12, 48, 32}}));

}  // namespace
}  // namespace torchstone::densenet
