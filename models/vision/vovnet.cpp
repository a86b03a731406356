// VoVNet: each block concatenates its input and all of its layers' outputs once, at its end; V2 scales the result's
// channels by a gate. Papers: Lee et al., "An energy and GPU-computation efficient backbone network for real-time
// object detection", 2019; Lee, Park, "CenterMask", 2019. Original: timm's VovNet. Input [N, 3, 224, 224], of
// ese_vovnet19b_dw in inference [N, 3, 288, 288] → logits [N, 1000]; 6,543,080 (ese_vovnet19b_dw) and 22,600,296
// (vovnet39a) parameters. mini: widths 32 to 80, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::vovnet {
namespace {

struct Stage {
  int64_t hidden, out, blocks;
};

struct Shape {
  std::vector<int64_t> stem;
  std::vector<Stage> stages;
  int64_t layers;         ///< of a block
  bool depthwise, gates;  ///< depthwise convolutions and 1x1 ones; a gate at the end of each stage
};

/// A 3x3 convolution, or a depthwise one with a 1x1 convolution.
Chain layer(int64_t in, int64_t out, bool depthwise, int64_t stride = 1) {
  if (!depthwise) return named_conv_norm(in, out, {.kernel = 3, .stride = stride});
  return chain({{"conv_dw", conv3x3(in, in, stride, in)},
                {"conv_pw", conv1x1(in, out)},
                {"bn", nn::BatchNorm2d(out)},
                {"act", activation(Act::relu)}});
}

Block gate(int64_t channels) {
  Block block;
  auto fc = block.add("fc", conv(channels, channels, 1));
  return block.running([=](const torch::Tensor& x) mutable {
    return x * torch::hardsigmoid(fc(x.mean({2, 3}, /*keepdim=*/true)));
  });
}

Block aggregation_block(int64_t in, const Stage& stage, const Shape& shape, bool gated) {
  Block block;
  Chain reduction;
  auto width = in;
  if (shape.depthwise && in != stage.hidden) {
    reduction = block.add("conv_reduction", named_conv_norm(in, stage.hidden));
    width = stage.hidden;
  }
  std::vector<Chain> layers;
  for (int64_t i = 0; i < shape.layers; ++i) {
    layers.push_back(layer(width, stage.hidden, shape.depthwise));
    width = stage.hidden;
  }
  block.add("conv_mid", list_of(layers));
  Chain end;
  end->push_back(block.add("conv_concat", named_conv_norm(in + shape.layers * stage.hidden, stage.out)));
  if (gated) end->push_back(block.add("attn", gate(stage.out)));
  return block.running([=](const torch::Tensor& x) mutable {
    Tensors maps = {x};
    auto y = reduction(x);
    for (auto& one : layers) maps.push_back(y = one(y));
    return end(torch::cat(maps, 1));
  });
}

class VovNet : public Layered<ByteImageModel> {
 public:
  VovNet(const Shape& shape, int64_t side) : Layered(side, 32) {
    const auto& stem = shape.stem;
    add("stem", Chain(named_conv_norm(3, stem[0], {.kernel = 3, .stride = 2}), layer(stem[0], stem[1], shape.depthwise),
                      layer(stem[1], stem[2], shape.depthwise, 2)));
    Chain stages;
    auto in = stem[2];
    for (const auto& shape_of_stage : shape.stages) {
      Chain stage, blocks;
      if (in != stem[2]) stage->push_back("pool", max_pool(3, 2, {.ceil = true}));
      for (int64_t i = 0; i < shape_of_stage.blocks; ++i) {
        const bool is_last = i + 1 == shape_of_stage.blocks;
        blocks->push_back(aggregation_block(in, shape_of_stage, shape, shape.gates && is_last));
        in = shape_of_stage.out;
      }
      stage->push_back("blocks", blocks);
      stages->push_back(stage);
    }
    add("stages", stages);
    add("head", pooled_classifier(in));
    init_convolutions_he(*this);
  }
};

auto make(const Shape& full, int64_t inference_side) {
  auto mini = full;
  mini.stem = {16, 16, 24};
  mini.stages = {{16, 32, 1}, {20, 48, 1}, {24, 64, full.stages[2].blocks}, {28, 80, 1}};
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    if (options.preset == Preset::mini) return std::make_shared<VovNet>(mini, 64);
    return std::make_shared<VovNet>(full, options.mode == Mode::training ? 224 : inference_side);
  };
}

TORCHSTONE_MODEL(ese_vovnet19b_dw, .family = "vovnet", .suites = {"timm"}, .train_batch = 256, .eval_batch = 256,
                 .parameters = 6'543'080,
                 .make = make({.stem = {64, 64, 64},
                               .stages = {{128, 256, 1}, {160, 512, 1}, {192, 768, 1}, {224, 1024, 1}},
                               .layers = 3,
                               .depthwise = true,
                               .gates = true},
                              288));
TORCHSTONE_MODEL(vovnet39a, .family = "vovnet", .suites = {"timm"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 22'600'296,
                 .make = make({.stem = {64, 64, 128},
                               .stages = {{128, 256, 1}, {160, 512, 1}, {192, 768, 2}, {224, 1024, 2}},
                               .layers = 5,
                               .depthwise = false,
                               .gates = false},
                              224));

}  // namespace
}  // namespace torchstone::vovnet
