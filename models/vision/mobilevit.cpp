// MobileViT: inverted residuals, and blocks in which corresponding pixels of all patches attend to each other.
// Paper: Mehta, Rastegari, "MobileViT: light-weight, general-purpose, and mobile-friendly vision transformer", 2021.
// Original: timm's ByobNet as mobilevit_s. Input [N, 3, 256, 256] → logits [N, 1000]; 5,578,632 parameters.
// mini: two plain stages of a block each and two with transformers of a layer each, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::mobilevit {
namespace {

constexpr int64_t patch_side = 2, head_count = 4;

Chain conv_silu(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return named_conv_norm(in, out, {.kernel = kernel, .stride = stride, .act = Act::silu});
}

SkipChain inverted_residual(int64_t in, int64_t out, int64_t stride) {
  const auto hidden = 4 * in;
  const ConvNorm depthwise{.kernel = 3, .stride = stride, .groups = hidden, .act = Act::silu};
  SkipChain layers(stride == 1 && in == out);
  layers->push_back("conv1_1x1", conv_silu(in, hidden, 1));
  layers->push_back("conv2_kxk", named_conv_norm(hidden, hidden, depthwise));
  layers->push_back("conv3_1x1", named_conv_norm(hidden, out, {.act = Act::none}));
  return layers;
}

/// Unfolds [N, C, H, W] to [N * pixels of a patch, patches, C].
torch::Tensor to_patches(const torch::Tensor& x) {
  const auto batch = x.size(0), channels = x.size(1), rows = x.size(2) / patch_side, columns = x.size(3) / patch_side;
  return x.reshape({batch * channels * rows, patch_side, columns, patch_side})
      .transpose(1, 2)
      .reshape({batch, channels, rows * columns, patch_side * patch_side})
      .transpose(1, 3)
      .reshape({batch * patch_side * patch_side, rows * columns, channels});
}

/// Reverses the unfolding.
torch::Tensor from_patches(const torch::Tensor& x, int64_t batch, int64_t height, int64_t width) {
  const auto channels = x.size(2), rows = height / patch_side, columns = width / patch_side;
  return x.contiguous()
      .view({batch, patch_side * patch_side, rows * columns, channels})
      .transpose(1, 3)
      .reshape({batch * channels * rows, columns, patch_side, patch_side})
      .transpose(1, 2)
      .reshape({batch, channels, height, width});
}

Block mobile_vit_block(int64_t channels, int64_t width, int64_t depth) {
  Block block;
  auto conv_kxk = block.add("conv_kxk", conv_silu(channels, channels, 3));
  auto conv_proj = block.add("conv_proj", conv_silu(width, channels, 1));
  auto conv_fusion = block.add("conv_fusion", conv_silu(2 * channels, channels, 3));
  auto conv_1x1 = block.add("conv_1x1", conv(channels, width, 1, {.bias = false}));
  auto norm = block.add("norm", layer_norm(width, 1e-5));
  auto transformer = block.add("transformer", Chain());
  const EncoderShape shape{.width = width, .heads = head_count, .hidden = 2 * width, .eps = 1e-5, .act = Act::silu};
  for (int64_t i = 0; i < depth; ++i) transformer->push_back(encoder_layer(shape));
  return block.running([=](torch::Tensor x) mutable {
    const auto local = conv_1x1(conv_kxk(x));
    const auto mixed = norm(transformer(to_patches(local)));
    const auto map = conv_proj(from_patches(mixed, x.size(0), x.size(2), x.size(3)));
    return conv_fusion(torch::cat({x, map}, 1));
  });
}

struct Stage {
  int64_t depth, channels, stride, width = 0, layers = 0;  ///< width and layers of the transformer; 0: none
};

class MobileVit : public Layered<ByteImageModel> {
 public:
  MobileVit(const std::vector<Stage>& plan, int64_t last, int64_t side) : Layered(side, 32) {
    add("stem", conv_silu(3, 16, 3, 2));
    Chain stages;
    int64_t in = 16;
    for (const auto& stage : plan) {
      Chain blocks;
      for (int64_t i = 0; i < stage.depth; ++i) {
        blocks->push_back(inverted_residual(in, stage.channels, i == 0 ? stage.stride : 1));
        in = stage.channels;
      }
      if (stage.layers > 0) blocks->push_back(mobile_vit_block(in, stage.width, stage.layers));
      stages->push_back(blocks);
    }
    add("stages", stages);
    add("final_conv", conv_silu(in, last, 1));
    add("head", pooled_classifier(last));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.02);
  }
};

const std::vector<Stage> full_stages = {
    {1, 32, 1}, {3, 64, 2}, {1, 96, 2, 144, 2}, {1, 128, 2, 192, 4}, {1, 160, 2, 240, 3}};
const std::vector<Stage> mini_stages = {{1, 16, 1}, {1, 24, 2}, {1, 32, 2, 48, 1}, {1, 48, 2, 64, 1}};

TORCHSTONE_MODEL(mobilevit_s, .family = "mobilevit", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 5'578'632,
                 .make = by_preset<MobileVit>(std::tuple(full_stages, 640, 256), std::tuple(mini_stages, 128, 64)));

}  // namespace
}  // namespace torchstone::mobilevit
