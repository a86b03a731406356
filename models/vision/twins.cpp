// Twins-PCPVT: a transformer in stages whose keys and values come from a smaller image, with a depthwise convolution as
// position encoding. Paper: Chu et al., "Twins: revisiting the design of spatial attention in vision transformers",
// 2021. Original: timm's Twins without local attention. Input [N, 3, 224, 224] → logits [N, 1000]; 43,828,456
// parameters. mini: stages of 2, 1, 1 and 1 layers, widths 16 to 64, 64 pixels.
#include <array>

#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::twins {
namespace {

torch::Tensor image_of(const torch::Tensor& tokens, int64_t side) {
  return tokens.transpose(1, 2).reshape({tokens.size(0), tokens.size(2), side, side});
}

/// Keys and values are tokens of the image with a side `ratio` times smaller.
Block subsampled_attention(int64_t width, int64_t heads, int64_t side, int64_t ratio) {
  Block block;
  auto q = block.add("q", nn::Linear(width, width)), kv = block.add("kv", nn::Linear(width, 2 * width)),
       proj = block.add("proj", nn::Linear(width, width));
  nn::Conv2d sr{nullptr};
  nn::LayerNorm norm{nullptr};
  if (ratio > 1) {
    sr = block.add("sr", conv(width, width, ratio, {.stride = ratio}));
    norm = block.add("norm", layer_norm(width, 1e-5));
  }
  return block.running([=](const torch::Tensor& x) mutable {
    const auto smaller = sr ? norm(sr(image_of(x, side)).flatten(2).transpose(1, 2)) : x;
    const auto parts = kv(smaller).chunk(2, -1);
    return proj(attention(q(x), parts[0], parts[1], heads));
  });
}

struct TwinsShape {
  std::array<int64_t, 4> widths, heads, depths;
  int64_t side = 224;
};

class Twins : public Layered<ByteImageModel> {
 public:
  explicit Twins(const TwinsShape& shape) : Layered(shape.side) {
    constexpr std::array<int64_t, 4> mlp_ratios{8, 8, 4, 4}, ratios{8, 4, 2, 1};
    nn::ModuleList patch_embeds, blocks, pos_block;
    int64_t in = 3, side = shape.side;
    for (size_t i = 0; i < shape.widths.size(); ++i) {
      const auto width = shape.widths[i], patch = i == 0 ? int64_t{4} : int64_t{2};
      side /= patch;
      const auto embed = normed_patches(patch, in, width);
      patch_embeds->push_back(embed);
      add(embed);
      auto encode = conv(width, width, 3, {.padding = 1, .groups = width});
      pos_block->push_back(group({{"proj", Chain(encode).ptr()}}));
      nn::ModuleList stage;
      for (int64_t block = 0; block < shape.depths[i]; ++block) {
        const auto layer = encoder_layer({.width = width, .heads = shape.heads[i], .hidden = mlp_ratios[i] * width},
                                         subsampled_attention(width, shape.heads[i], side, ratios[i]));
        stage->push_back(layer);
        add(layer);
        if (block > 0) continue;
        add(nn::Functional([=](const torch::Tensor& x) mutable {
          const auto image = image_of(x, side);
          return (encode(image) + image).flatten(2).transpose(1, 2);
        }));
      }
      blocks->push_back(stage);
      if (i + 1 < shape.widths.size())
        add(nn::Functional([=](const torch::Tensor& x) { return image_of(x, side).contiguous(); }));
      in = width;
    }
    register_module("patch_embeds", patch_embeds);
    register_module("blocks", blocks);
    register_module("pos_block", pos_block);
    add("norm", layer_norm(in));
    add(nn::Functional([](const torch::Tensor& x) { return x.mean(1); }));
    add("head", nn::Linear(in, 1000));
    init_linears_normal(*this, 0.02);
  }
};

TORCHSTONE_MODEL(twins_pcpvt_base, .family = "twins", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 43'828'456,
                 .make = by_preset<Twins>(TwinsShape{{64, 128, 320, 512}, {1, 2, 5, 8}, {3, 4, 18, 3}},
                                          TwinsShape{{16, 32, 48, 64}, {1, 2, 3, 4}, {2, 1, 1, 1}, 64}));

}  // namespace
}  // namespace torchstone::twins
