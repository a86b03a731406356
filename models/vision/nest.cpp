// NesT: attention within blocks of an image, which are merged by a convolution and a maximum between levels.
// Paper: Zhang et al., "Nested hierarchical transformer: towards accurate, data-efficient and interpretable visual
// understanding", 2021. Original: timm's Nest with TensorFlow's padding. Input [N, 3, 224, 224] → logits [N, 1000];
// 67,723,368 parameters. mini: levels of 1, 1 and 2 layers, widths 32 to 64, 64 pixels.
#include <array>
#include <limits>

#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::nest {
namespace {

constexpr size_t levels = 3;
constexpr int64_t patch_side = 4;

/// Attention within each block: [N, blocks, L, width] → the same.
Block block_attention(int64_t width, int64_t heads) {
  Block block;
  auto qkv = block.add("qkv", nn::Linear(width, 3 * width)), proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qkv(x)
                           .reshape({x.size(0), x.size(1), x.size(2), 3, heads, width / heads})
                           .permute({3, 0, 4, 1, 2, 5})
                           .unbind(0);
    const auto mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2]);
    return proj(mixed.permute({0, 2, 3, 4, 1}).reshape(x.sizes()));
  });
}

Block nest_layer(int64_t width, int64_t heads, double drop) {
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width)), norm2 = block.add("norm2", layer_norm(width));
  auto attn = block.add("attn", block_attention(width, heads));
  auto mlp = block.add("mlp", Mlp(width, 4 * width));
  auto drop1 = block.add("drop_path1", DropPath(drop)), drop2 = block.add("drop_path2", DropPath(drop));
  return block.running([=](torch::Tensor x) mutable {
    x = x + drop1(attn(norm1(x)));
    return x + drop2(mlp(norm2(x)));
  });
}

/// Halves the sides of [N, in, H, W]. A row and a column of padding come last, as in TensorFlow.
Block merge(int64_t in, int64_t out) {
  Block block;
  auto convolve = block.add("conv", conv(in, out, 3, {.padding = 1}));
  auto norm = block.add("norm", ChannelNorm(out));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto padded =
        torch::constant_pad_nd(norm(convolve(x)), {0, 1, 0, 1}, -std::numeric_limits<double>::infinity());
    return torch::max_pool2d(padded, 3, 2);
  });
}

struct NestShape {
  std::array<int64_t, levels> widths, heads, depths;
  int64_t side = 224;
};

/// A level with `count` blocks along a side: [N, C, H, W] → the same shape.
Block level(int64_t width, int64_t count, int64_t block_side, const Chain& encoder) {
  Block block;
  const auto length = block_side * block_side;
  const auto places = block.add("pos_embed", torch::randn({1, count * count, length, width}) * 0.02);
  auto layers = block.add("transformer_encoder", encoder);
  return block.running([=](const torch::Tensor& x) mutable {
    const auto batch = x.size(0), side = count * block_side;
    const auto blocks = x.permute({0, 2, 3, 1})
                            .reshape({batch, count, block_side, count, block_side, width})
                            .transpose(2, 3)
                            .reshape({batch, count * count, length, width});
    return layers(blocks + places)
        .reshape({batch, count, count, block_side, block_side, width})
        .transpose(2, 3)
        .reshape({batch, side, side, width})
        .permute({0, 3, 1, 2});
  });
}

class Nest : public Layered<ByteImageModel> {
 public:
  explicit Nest(const NestShape& shape) : Layered(shape.side) {
    add("patch_embed", chain({{"proj", conv(3, shape.widths[0], patch_side, {.stride = patch_side})}}));
    auto count = int64_t{1} << (levels - 1);
    const auto block_side = shape.side / patch_side / count;
    const auto last = shape.depths[0] + shape.depths[1] + shape.depths[2] - 1;
    int64_t place = 0;
    nn::ModuleList all;
    for (size_t i = 0; i < levels; ++i, count /= 2) {
      const auto width = shape.widths[i];
      Chain encoder;
      for (int64_t layer = 0; layer < shape.depths[i]; ++layer, ++place) {
        const auto drop = 0.5 * static_cast<double>(place) / static_cast<double>(last);
        encoder->push_back(nest_layer(width, shape.heads[i], drop));
      }
      auto blocks = level(width, count, block_side, encoder);
      if (i > 0) add(blocks.add("pool", merge(shape.widths[i - 1], width)));
      all->push_back(blocks);
      add(blocks);
    }
    register_module("levels", all);
    add("norm", ChannelNorm(shape.widths.back()));
    add(average_pool());
    add("head", nn::Linear(shape.widths.back(), 1000));
    init_linears_normal(*this, 0.02);
  }
};

TORCHSTONE_MODEL(jx_nest_base, .family = "nest", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 67'723'368,
                 .make = by_preset<Nest>(NestShape{{128, 256, 512}, {4, 8, 16}, {2, 2, 20}},
                                         NestShape{{32, 48, 64}, {2, 3, 4}, {1, 1, 2}, 64}));

}  // namespace
}  // namespace torchstone::nest
