// MobileNetV3: inverted residuals with squeeze-and-excitation and hard-swish.
// Paper: Howard et al., "Searching for MobileNetV3", 2019.
// Original: torchvision.models.mobilenet_v3_large, mobilenet_v3_small. Input [N, 3, 224, 224] → logits [N, 1000];
// 5,483,032 and 2,542,856 parameters. mini: four blocks of each, 64 pixels.
#include "models/blocks/conv_norm.h"
#include "models/blocks/image_model.h"
#include "models/blocks/init.h"
#include "models/blocks/round_channels.h"
#include "models/blocks/skip.h"
#include "models/blocks/squeeze_excite.h"
#include "models/registry.h"

namespace torchstone {
namespace {

struct Bottleneck {
  int64_t in, kernel, expanded, out;
  bool squeezes;
  Act act;
  int64_t stride;
};
constexpr auto RE = Act::relu, HS = Act::hardswish;

ConvNorm shape_of(ConvNorm shape) {
  shape.eps = 1e-3;
  shape.momentum = 0.01;
  return shape;
}

Skip inverted_residual(const Bottleneck& b) {
  Chain block;
  if (b.expanded != b.in) block->push_back(conv_norm(b.in, b.expanded, shape_of({.act = b.act})));
  block->push_back(conv_norm(b.expanded, b.expanded,
                             shape_of({.kernel = b.kernel, .stride = b.stride, .groups = b.expanded, .act = b.act})));
  if (b.squeezes) {
    const auto squeezed = round_channels(static_cast<double>(b.expanded / 4));
    block->push_back(
        SqueezeExcite(SqueezeExciteShape{.channels = b.expanded, .squeezed = squeezed, .gate = Act::hardsigmoid}));
  }
  block->push_back(conv_norm(b.expanded, b.out, shape_of({.act = Act::none})));
  return Skip("block", block, b.stride == 1 && b.in == b.out);
}

class MobileNetV3 : public FeaturesAndClassifier {
 public:
  MobileNetV3(const std::vector<Bottleneck>& bottlenecks, int64_t last, int64_t side) : FeaturesAndClassifier(side) {
    nn::Sequential features(conv_norm(3, bottlenecks[0].in, shape_of({.kernel = 3, .stride = 2, .act = HS})));
    for (const auto& bottleneck : bottlenecks) features->push_back(inverted_residual(bottleneck));
    const auto out = bottlenecks.back().out, wide = 6 * out;
    features->push_back(conv_norm(out, wide, shape_of({.act = HS})));
    register_parts(features,
                   nn::Sequential(nn::Linear(wide, last), activation(HS), nn::Dropout(0.2), nn::Linear(last, 1000)));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

const std::vector<Bottleneck> kLarge = {
    {16, 3, 16, 16, false, RE, 1},   {16, 3, 64, 24, false, RE, 2},   {24, 3, 72, 24, false, RE, 1},
    {24, 5, 72, 40, true, RE, 2},    {40, 5, 120, 40, true, RE, 1},   {40, 5, 120, 40, true, RE, 1},
    {40, 3, 240, 80, false, HS, 2},  {80, 3, 200, 80, false, HS, 1},  {80, 3, 184, 80, false, HS, 1},
    {80, 3, 184, 80, false, HS, 1},  {80, 3, 480, 112, true, HS, 1},  {112, 3, 672, 112, true, HS, 1},
    {112, 5, 672, 160, true, HS, 2}, {160, 5, 960, 160, true, HS, 1}, {160, 5, 960, 160, true, HS, 1}};
const std::vector<Bottleneck> kSmall = {
    {16, 3, 16, 16, true, RE, 2},  {16, 3, 72, 24, false, RE, 2}, {24, 3, 88, 24, false, RE, 1},
    {24, 5, 96, 40, true, HS, 2},  {40, 5, 240, 40, true, HS, 1}, {40, 5, 240, 40, true, HS, 1},
    {40, 5, 120, 48, true, HS, 1}, {48, 5, 144, 48, true, HS, 1}, {48, 5, 288, 96, true, HS, 2},
    {96, 5, 576, 96, true, HS, 1}, {96, 5, 576, 96, true, HS, 1}};
const std::vector<Bottleneck> kMini = {{16, 3, 16, 16, false, RE, 1},
                                       {16, 3, 64, 24, false, RE, 2},
                                       {24, 5, 72, 40, true, HS, 2},
                                       {40, 5, 120, 40, true, HS, 1}};

std::shared_ptr<Model> make(const ModelOptions& options, const std::vector<Bottleneck>& full, int64_t last) {
  if (options.preset == Preset::full) return std::make_shared<MobileNetV3>(full, last, 224);
  return std::make_shared<MobileNetV3>(kMini, 256, 64);
}

TORCHSTONE_MODEL(
    mobilenet_v3_large, .family = "mobilenet_v3", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 5'483'032, .make = [](const ModelOptions& options) { return make(options, kLarge, 1280); });
TORCHSTONE_MODEL(
    mobilenet_v3_small, .family = "mobilenet_v3", .suites = {"torchvision"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 2'542'856, .make = [](const ModelOptions& options) { return make(options, kSmall, 1024); });

}  // namespace
}  // namespace torchstone
