// RepVGG: trained as 3x3 convolution + 1x1 convolution + identity, each normalised; deployed as one 3x3 convolution.
// Paper: Ding et al., "RepVGG: making VGG-style ConvNets great again", 2021.
// Original: timm's ByobNet as repvgg_a2, and the same after reparameterize_model. Input [N, 3, 224, 224] → logits
// [N, 1000]; 28,210,600 parameters, deployed 25,499,944. mini: stages of 2 and 2 blocks, widths 16 and 32, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::repvgg {
namespace {

Block rep_block(int64_t in, int64_t out, int64_t stride, bool deployed) {
  Block block;
  if (deployed) {
    auto reparam_conv = block.add("reparam_conv", conv(in, out, 3, {.stride = stride, .padding = 1}));
    return block.running([=](const torch::Tensor& x) mutable { return torch::relu(reparam_conv(x)); });
  }
  const auto branch = [&](int64_t kernel) {
    return named_conv_norm(in, out, {.kernel = kernel, .stride = stride, .act = Act::none});
  };
  nn::BatchNorm2d identity{nullptr};
  if (in == out && stride == 1) identity = block.add("identity", nn::BatchNorm2d(out));
  auto conv_kxk = block.add("conv_kxk", branch(3)), conv_1x1 = block.add("conv_1x1", branch(1));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto sum = conv_1x1(x) + conv_kxk(x);
    return torch::relu(identity ? sum + identity(x) : sum);
  });
}

struct Stage {
  int64_t depth, channels;
};

class RepVgg : public Layered<ByteImageModel> {
 public:
  RepVgg(const std::vector<Stage>& plan, int64_t stem, int64_t side, bool deployed) : Layered(side, 32) {
    add("stem", rep_block(3, stem, 2, deployed));
    Chain stages;
    auto in = stem;
    for (const auto& stage : plan) {
      Chain blocks;
      for (int64_t i = 0; i < stage.depth; ++i) {
        blocks->push_back(rep_block(in, stage.channels, i == 0 ? 2 : 1, deployed));
        in = stage.channels;
      }
      stages->push_back(blocks);
    }
    add("stages", stages);
    add("head", pooled_classifier(in));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

auto make(bool deployed) {
  using Stages = std::vector<Stage>;
  return by_preset<RepVgg>(std::tuple(Stages{{2, 96}, {4, 192}, {14, 384}, {1, 1408}}, 64, 224, deployed),
                           std::tuple(Stages{{2, 16}, {2, 32}}, 16, 64, deployed));
}

TORCHSTONE_MODEL(repvgg_a2, .family = "repvgg", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 28'210'600, .make = make(/*deployed=*/false));
TORCHSTONE_MODEL(repvgg_a2_deployed, .family = "repvgg", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 25'499'944, .make = make(/*deployed=*/true));

}  // namespace
}  // namespace torchstone::repvgg
