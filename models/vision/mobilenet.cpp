// MobileNetV2 and MobileNetV3. Input [N, 3, 224, 224] → logits [N, 1000]. mini: 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::mobilenet {
namespace {

Skip inverted_residual(int64_t in, int64_t out, int64_t stride, int64_t expansion) {
  const auto hidden = in * expansion;
  Chain layers;
  if (expansion != 1) layers->push_back(conv_norm(in, hidden, {.act = Act::relu6}));
  layers->push_back(conv_norm(hidden, hidden, {.kernel = 3, .stride = stride, .groups = hidden, .act = Act::relu6}));
  layers->push_back(conv(hidden, out, 1, {.bias = false}));
  layers->push_back(nn::BatchNorm2d(out));
  return Skip("conv", layers, stride == 1 && in == out);
}

struct Stage {
  int64_t expansion, channels, depth, stride;
};

/// Inverted residuals (expand, depthwise, linear projection) with ReLU6.
/// Paper: Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018.
/// Original: torchvision.models.mobilenet_v2; 3,504,872 parameters. mini: half the width, four of the seven stages.
class MobileNetV2 : public FeaturesAndClassifier {
 public:
  MobileNetV2(const std::vector<Stage>& stages, double width, int64_t side) : FeaturesAndClassifier(side) {
    Chain features;
    const auto last = round_channels(1280 * std::max(1.0, width));
    auto in = round_channels(32 * width);
    features->push_back(conv_norm(3, in, {.kernel = 3, .stride = 2, .act = Act::relu6}));
    for (const auto& stage : stages) {
      const auto out = round_channels(static_cast<double>(stage.channels) * width);
      for (int64_t i = 0; i < stage.depth; ++i) {
        features->push_back(inverted_residual(in, out, i == 0 ? stage.stride : 1, stage.expansion));
        in = out;
      }
    }
    features->push_back(conv_norm(in, last, {.act = Act::relu6}));
    add_parts(features, Chain(nn::Dropout(0.2), nn::Linear(last, 1000)));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

const std::vector<Stage> v2_stages = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                      {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
const std::vector<Stage> v2_mini_stages = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 2, 2}, {6, 64, 1, 2}};

TORCHSTONE_MODEL(mobilenet_v2, .family = "mobilenet_v2", .suites = {"torchbench"}, .train_batch = 96, .eval_batch = 16,
                 .parameters = 3'504'872,
                 .make = by_preset<MobileNetV2>(std::tuple(v2_stages, 1.0, 224), std::tuple(v2_mini_stages, 0.5, 64)));

constexpr auto RE = Act::relu, HS = Act::hardswish;

/// Inverted residuals with squeeze-and-excitation and hard-swish.
/// Paper: Howard et al., "Searching for MobileNetV3", 2019.
/// Original: torchvision.models.mobilenet_v3_large, mobilenet_v3_small; 5,483,032 and 2,542,856 parameters. mini: four
/// blocks of each.
class MobileNetV3 : public FeaturesAndClassifier {
 public:
  MobileNetV3(const std::vector<MobileBottleneck>& bottlenecks, int64_t last, int64_t side)
      : FeaturesAndClassifier(side) {
    const auto wide = 6 * bottlenecks.back().out;
    add_parts(mobile_features(bottlenecks),
              Chain(nn::Linear(wide, last), activation(HS), nn::Dropout(0.2), nn::Linear(last, 1000)));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

const std::vector<MobileBottleneck> v3_small_stages = {
    {16, 3, 16, 16, true, RE, 2},  {16, 3, 72, 24, false, RE, 2}, {24, 3, 88, 24, false, RE, 1},
    {24, 5, 96, 40, true, HS, 2},  {40, 5, 240, 40, true, HS, 1}, {40, 5, 240, 40, true, HS, 1},
    {40, 5, 120, 48, true, HS, 1}, {48, 5, 144, 48, true, HS, 1}, {48, 5, 288, 96, true, HS, 2},
    {96, 5, 576, 96, true, HS, 1}, {96, 5, 576, 96, true, HS, 1}};
const std::vector<MobileBottleneck> v3_mini_stages = {{16, 3, 16, 16, false, RE, 1},
                                                      {16, 3, 64, 24, false, RE, 2},
                                                      {24, 5, 72, 40, true, HS, 2},
                                                      {40, 5, 120, 40, true, HS, 1}};

auto make_v3(const std::vector<MobileBottleneck>& full, int64_t last) {
  return by_preset<MobileNetV3>(std::tuple(full, last, 224), std::tuple(v3_mini_stages, 256, 64));
}

TORCHSTONE_MODEL(mobilenet_v3_large, .family = "mobilenet_v3", .suites = {"torchbench"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 5'483'032, .make = make_v3(mobile_large(), 1280));
TORCHSTONE_MODEL(mobilenet_v3_small, .family = "mobilenet_v3", .suites = {"torchvision"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 2'542'856, .make = make_v3(v3_small_stages, 1024));

}  // namespace
}  // namespace torchstone::mobilenet
