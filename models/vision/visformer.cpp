// Visformer: grouped convolutions in the first stage, attention in the others, BatchNorm throughout.
// Paper: Chen, Xie, Niu, Liu, Wei, Tian, "Visformer: the vision-friendly transformer", 2021. Original: timm's
// Visformer. Input [N, 3, 224, 224] → logits [N, 1000]; 40,219,592 parameters.
// mini: stages of one block, widths 48 to 192, 64 pixels.
#include <array>
#include <cmath>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::visformer {
namespace {

nn::Conv2d plain_conv(int64_t in, int64_t out, int64_t kernel = 1, int64_t groups = 1) {
  return same_conv(in, out, {.kernel = kernel, .groups = groups});
}

/// Attention between the positions of [N, width, H, W]. Like the original it computes the scores itself.
Block map_attention(int64_t width, int64_t heads) {
  Block block;
  auto qkv = block.add("qkv", plain_conv(width, 3 * width)), proj = block.add("proj", plain_conv(width, width));
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qkv(x).reshape({x.size(0), 3, heads, width / heads, -1}).permute({1, 0, 2, 4, 3}).unbind(0);
    const auto scores = parts[0].matmul(parts[1].transpose(-2, -1)) * scale;
    return proj(scores.softmax(-1).matmul(parts[2]).permute({0, 1, 3, 2}).reshape(x.sizes()));
  });
}

/// Convolutions of twice the width with a grouped one between them, or of four times the width.
Chain map_mlp(int64_t width, bool grouped) {
  const auto hidden = (grouped ? 2 : 4) * width;
  auto layers = chain({{"conv1", plain_conv(width, hidden)}, {"act1", activation(Act::gelu)}});
  if (grouped) {
    layers->push_back("conv2", plain_conv(hidden, hidden, 3, 8));
    layers->push_back("act2", activation(Act::gelu));
  }
  layers->push_back("conv3", plain_conv(hidden, width));
  return layers;
}

Block convolution_block(int64_t width) {
  Block block;
  auto norm = block.add("norm2", batch_norm(width));
  auto mlp = block.add("mlp", map_mlp(width, true));
  return block.running([=](const torch::Tensor& x) mutable { return x + mlp(norm(x)); });
}

Block attention_block(int64_t width, int64_t heads) {
  Block block;
  auto norm1 = block.add("norm1", batch_norm(width)), norm2 = block.add("norm2", batch_norm(width));
  auto attn = block.add("attn", map_attention(width, heads));
  auto mlp = block.add("mlp", map_mlp(width, false));
  return block.running([=](torch::Tensor x) mutable {
    x = x + attn(norm1(x));
    return x + mlp(norm2(x));
  });
}

struct VisformerShape {
  int64_t stem, width, heads, side;
  std::array<int64_t, 3> depths;
};

class Visformer : public Layered<ByteImageModel> {
 public:
  explicit Visformer(const VisformerShape& shape) : Layered(shape.side) {
    add("stem",
        Chain(conv(3, shape.stem, 7, {.stride = 2, .padding = 3, .bias = false}), batch_norm(shape.stem), relu()));
    auto in = shape.stem, width = shape.width, side = shape.side / 2;
    for (size_t i = 0; i < shape.depths.size(); ++i, in = width, width *= 2) {
      const auto number = std::to_string(i + 1);
      const auto patch = i == 0 ? 4 : 2;
      side /= patch;
      add("patch_embed" + number,
          chain({{"proj", conv(in, width, patch, {.stride = patch})}, {"norm", batch_norm(width)}}));
      const auto places = register_parameter("pos_embed" + number, torch::randn({1, width, side, side}) * 0.02);
      add(nn::Functional([places](const torch::Tensor& x) { return x + places; }));
      Chain stage;
      for (int64_t block = 0; block < shape.depths[i]; ++block)
        stage->push_back(i == 0 ? convolution_block(width) : attention_block(width, shape.heads));
      add("stage" + number, stage);
    }
    add("norm", batch_norm(in));
    add(average_pool());
    add("head", nn::Linear(in, 1000));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.02);
  }
};

TORCHSTONE_MODEL(visformer_small, .family = "visformer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 40'219'592,
                 .make = by_preset<Visformer>(VisformerShape{32, 192, 6, 224, {7, 4, 4}},
                                              VisformerShape{16, 48, 3, 64, {1, 1, 1}}));

}  // namespace
}  // namespace torchstone::visformer
