// ConvNeXt: 7x7 depthwise convolution, LayerNorm and an MLP over the channels; V2 adds a global response norm.
// Papers: Liu et al., "A ConvNet for the 2020s", 2022; Woo et al., "ConvNeXt V2", 2023.
// Original: timm's ConvNeXt. Input [N, 3, 224, 224], in inference [N, 3, 288, 288] → logits [N, 1000]; 28,589,128
// (convnext_tiny), 88,591,464 (convnext_base) and 15,623,800 (convnextv2_nano) parameters. mini: stages of one block,
// widths 16 to 128, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::convnext {
namespace {

/// x plus x times each channel's norm over the image, relative to the mean of all channels.
Block response_norm(int64_t channels) {
  Block block;
  const auto weight = block.add("weight", first_scale(channels)), bias = block.add("bias", torch::zeros({channels}));
  return block.running([=](torch::Tensor x) {
    const auto norms = x.norm(2, {2, 3}, /*keepdim=*/true);
    const auto relative = norms / (norms.mean(1, /*keepdim=*/true) + 1e-6);
    return x + torch::addcmul(bias.view({1, -1, 1, 1}), weight.view({1, -1, 1, 1}), x * relative);
  });
}

nn::Conv2d depthwise(int64_t width) { return conv(width, width, 7, {.padding = 3, .groups = width}); }

/// V1: an MLP over the last dimension, the channels, whose result is scaled.
Block block_v1(int64_t width) {
  Block block;
  auto conv_dw = block.add("conv_dw", depthwise(width));
  auto norm = block.add("norm", layer_norm(width));
  auto mlp = block.add("mlp", Mlp(width, 4 * width));
  const auto gamma = block.add("gamma", first_scale(width));
  return block.running([=](torch::Tensor x) mutable {
    const auto mixed = mlp(norm(conv_dw(x).permute({0, 2, 3, 1}))).permute({0, 3, 1, 2});
    return mixed * gamma.view({1, -1, 1, 1}) + x;
  });
}

/// V2: 1x1 convolutions with a response norm between them.
Block block_v2(int64_t width) {
  Block block;
  auto conv_dw = block.add("conv_dw", depthwise(width));
  auto norm = block.add("norm", ChannelNorm(width));
  auto mlp = block.add("mlp", chain({{"fc1", conv(width, 4 * width, 1)},
                                     {"act", activation(Act::gelu)},
                                     {"grn", response_norm(4 * width)},
                                     {"fc2", conv(4 * width, width, 1)}}));
  return block.running([=](torch::Tensor x) mutable { return mlp(norm(conv_dw(x))) + x; });
}

using List = std::vector<int64_t>;
using MakeBlock = Block (*)(int64_t width);

class ConvNeXt : public Layered<ByteImageModel> {
 public:
  ConvNeXt(MakeBlock make_block, const List& depths, const List& widths, int64_t side) : Layered(side, 32) {
    add("stem", Chain(conv(3, widths[0], 4, {.stride = 4}), ChannelNorm(widths[0])));
    Chain stages;
    for (size_t i = 0; i < depths.size(); ++i) {
      Chain blocks, stage;
      for (int64_t block = 0; block < depths[i]; ++block) blocks->push_back(make_block(widths[i]));
      if (i > 0) {
        const auto in = widths[i - 1];
        stage->push_back("downsample", Chain(ChannelNorm(in), conv(in, widths[i], 2, {.stride = 2})));
      }
      stage->push_back("blocks", blocks);
      stages->push_back(stage);
    }
    add("stages", stages);
    add("head", normed_classifier(widths.back()));
    init_linears_normal(*this, 0.02);
  }
};

auto make(MakeBlock block, const List& depths, const List& widths) {
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    if (options.preset == Preset::full)
      return std::make_shared<ConvNeXt>(block, depths, widths, side_of_224_or_288(options.mode));
    return std::make_shared<ConvNeXt>(block, List{1, 1, 1, 1}, List{16, 32, 64, 128}, 64);
  };
}

TORCHSTONE_MODEL(convnext_tiny, .family = "convnext", .suites = {"timm"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 28'589'128, .make = make(block_v1, {3, 3, 9, 3}, {96, 192, 384, 768}));
TORCHSTONE_MODEL(convnext_base, .family = "convnext", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 88'591'464, .make = make(block_v1, {3, 3, 27, 3}, {128, 256, 512, 1024}));
TORCHSTONE_MODEL(convnextv2_nano, .family = "convnext", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 15'623'800, .make = make(block_v2, {2, 2, 8, 2}, {80, 160, 320, 640}));

}  // namespace
}  // namespace torchstone::convnext
