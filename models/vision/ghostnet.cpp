// GhostNet: half of each layer's channels are made from the other half by a cheap depthwise convolution.
// Paper: Han et al., "GhostNet: more features from cheap operations", 2019. Original: timm's GhostNet.
// Input [N, 3, 224, 224] → logits [N, 1000]; 5,182,508 parameters. mini: the first four stages, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::ghostnet {
namespace {

struct Row {
  int64_t kernel, hidden, out;
  bool squeezes;
  int64_t stride;
};
using Stage = std::vector<Row>;

/// Half of the channels, and the other half computed from them.
Block ghost(int64_t in, int64_t out, Act act) {
  const auto half = out / 2;
  Block block;
  auto primary = block.add("primary_conv", conv_norm(in, half, {.act = act}));
  auto cheap = block.add("cheap_operation", conv_norm(half, half, {.kernel = 3, .groups = half, .act = act}));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto first = primary(x);
    return torch::cat({first, cheap(first)}, 1);
  });
}

Block ghost_bottleneck(int64_t in, const Row& row) {
  const ConvNorm depthwise{.kernel = row.kernel, .stride = row.stride, .groups = row.hidden, .act = Act::none};
  Block block;
  Chain body(block.add("ghost1", ghost(in, row.hidden, Act::relu)));
  if (row.stride > 1) {
    body->push_back(block.add("conv_dw", same_conv(row.hidden, row.hidden, depthwise)));
    body->push_back(block.add("bn_dw", nn::BatchNorm2d(row.hidden)));
  }
  if (row.squeezes) {
    const auto squeezed = (row.hidden / 4 + 2) / 4 * 4;  // a quarter, rounded to a multiple of 4
    body->push_back(block.add("se", squeeze_excite({.channels = row.hidden,
                                                    .squeezed = squeezed,
                                                    .gate = Act::hardsigmoid,
                                                    .reduce = "conv_reduce",
                                                    .expand = "conv_expand"})));
  }
  body->push_back(block.add("ghost2", ghost(row.hidden, row.out, Act::none)));
  Chain shortcut;
  if (row.stride > 1 || in != row.out) {
    auto first = depthwise;
    first.groups = in;
    shortcut = block.add("shortcut", Chain(same_conv(in, in, first), nn::BatchNorm2d(in), conv1x1(in, row.out),
                                           nn::BatchNorm2d(row.out)));
  }
  return block.running([=](const torch::Tensor& x) mutable { return body(x) + shortcut(x); });
}

class GhostNet : public Layered<ByteImageModel> {
 public:
  GhostNet(const std::vector<Stage>& stages, int64_t side) : Layered(side, 32) {
    int64_t in = 16;
    add("conv_stem", conv3x3(3, in, 2));
    add("bn1", nn::BatchNorm2d(in));
    add(relu());
    Chain blocks;
    for (const auto& stage : stages) {
      Chain layers;
      for (const auto& row : stage) {
        layers->push_back(ghost_bottleneck(in, row));
        in = row.out;
      }
      blocks->push_back(layers);
    }
    const auto last = stages.back().back().hidden;
    Chain end;
    end->push_back(
        chain({{"conv", conv1x1(in, last)}, {"bn1", nn::BatchNorm2d(last)}, {"act1", activation(Act::relu)}}));
    blocks->push_back(end);
    add("blocks", blocks);
    add(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1)));
    add("conv_head", conv(last, 1280, 1));
    add(relu());
    add(nn::Flatten());
    add("drop", nn::Dropout(0.2));
    add("classifier", nn::Linear(1280, 1000));
    init_convolutions_he(*this);
  }
};

const std::vector<Stage> full = {
    {{3, 16, 16, false, 1}},
    {{3, 48, 24, false, 2}},
    {{3, 72, 24, false, 1}},
    {{5, 72, 40, true, 2}},
    {{5, 120, 40, true, 1}},
    {{3, 240, 80, false, 2}},
    {{3, 200, 80, false, 1},
     {3, 184, 80, false, 1},
     {3, 184, 80, false, 1},
     {3, 480, 112, true, 1},
     {3, 672, 112, true, 1}},
    {{5, 672, 160, true, 2}},
    {{5, 960, 160, false, 1}, {5, 960, 160, true, 1}, {5, 960, 160, false, 1}, {5, 960, 160, true, 1}}};
const std::vector<Stage> mini = {
    {{3, 16, 16, false, 1}}, {{3, 48, 24, false, 2}}, {{3, 72, 24, false, 1}}, {{5, 72, 40, true, 2}}};

TORCHSTONE_MODEL(ghostnet_100, .family = "ghostnet", .suites = {"timm"}, .train_batch = 512, .eval_batch = 512,
                 .parameters = 5'182'508, .make = by_preset<GhostNet>(std::tuple(full, 224), std::tuple(mini, 64)));

}  // namespace
}  // namespace torchstone::ghostnet
