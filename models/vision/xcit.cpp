// XCiT: attention between channels instead of positions, convolutions between neighbours, and a final class token.
// Paper: El-Nouby et al., "XCiT: cross-covariance image transformers", 2021. Original: timm's Xcit as
// xcit_nano_12_p8_224 and xcit_large_24_p8_224. Input [N, 3, 224, 224] → logits [N, 1000]; 3,049,016 and 188,932,648
// parameters.
// mini: 2 + 2 layers of width 64, 64 pixels.
#include <numbers>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::xcit {
namespace {

/// Adds projected sines and cosines of both coordinates to an image: [N, width, side, side] → [N, side * side, width].
Block fourier_places(int64_t width) {
  constexpr int64_t wave_count = 32;
  Block block;
  auto project = block.add("token_projection", conv(2 * wave_count, width, 1));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto side = x.size(2);
    const auto& weight = project->weight;
    const auto wide = weight.options().dtype(torch::kFloat32);
    const auto axis = torch::arange(1, side + 1, wide) / (static_cast<double>(side) + 1e-6) * (2 * std::numbers::pi);
    const auto power = torch::arange(wave_count / 2, wide) * (2.0 / wave_count);
    const auto angles = axis.unsqueeze(1) / torch::pow(1e4, power);
    const auto waves = torch::stack({angles.sin(), angles.cos()}, 2).flatten(1);
    const auto along = [&](int64_t dim) { return waves.unsqueeze(1 - dim).expand({side, side, wave_count}); };
    const auto both = torch::cat({along(0), along(1)}, 2).permute({2, 0, 1}).unsqueeze(0);
    return (x + project(both.to(weight.scalar_type()))).flatten(2).transpose(1, 2);
  });
}

/// Attention between the channels of a head: softmax over their similarities.
Block channel_attention(int64_t width, int64_t heads) {
  Block block;
  const auto temperature = block.add("temperature", torch::ones({heads, 1, 1}));
  auto qkv = block.add("qkv", nn::Linear(width, 3 * width)), proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qkv(x).chunk(3, -1);
    const auto channels = [&](size_t i) { return split_heads(parts[i], heads).transpose(2, 3); };
    const auto scores = torch::matmul(unit_length(channels(0), -1), unit_length(channels(1), -1).transpose(2, 3));
    const auto mixed = torch::matmul((scores * temperature).softmax(-1), channels(2));
    return proj(join_heads(mixed.transpose(2, 3)));
  });
}

/// Mixes neighbouring tokens of a square image with two depthwise convolutions.
Block local_interaction(int64_t width, int64_t side) {
  Block block;
  auto conv1 = block.add("conv1", conv(width, width, 3, {.padding = 1, .groups = width}));
  auto bn = block.add("bn", nn::BatchNorm2d(width));
  auto conv2 = block.add("conv2", conv(width, width, 3, {.padding = 1, .groups = width}));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto image = x.transpose(1, 2).reshape({x.size(0), x.size(2), side, side});
    return conv2(bn(torch::gelu(conv1(image)))).flatten(2).transpose(1, 2);
  });
}

/// Sizes of XCiT. The small ones start the scales of their branches at 1. In their last two blocks they normalise only
/// the class token before the last part.
struct XcitShape {
  int64_t width, depth, heads, side;
  bool large = false;

  torch::Tensor branch_scale() const { return large ? first_scale(width) : torch::ones({width}); }
};

Block xcit_block(const XcitShape& shape) {
  const auto width = shape.width;
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width)), norm2 = block.add("norm2", layer_norm(width)),
       norm3 = block.add("norm3", layer_norm(width));
  auto attn = block.add("attn", channel_attention(width, shape.heads));
  auto local = block.add("local_mp", local_interaction(width, shape.side / 8));
  auto mlp = block.add("mlp", Mlp(width, 4 * width));
  const auto gamma1 = block.add("gamma1", shape.branch_scale()), gamma2 = block.add("gamma2", shape.branch_scale()),
             gamma3 = block.add("gamma3", shape.branch_scale());
  return block.running([=](torch::Tensor x) mutable {
    x = x + gamma1 * attn(norm1(x));
    x = x + gamma3 * local(norm3(x));
    return x + gamma2 * mlp(norm2(x));
  });
}

Block class_attention(int64_t width, int64_t heads) {
  Block block;
  auto q = block.add("q", nn::Linear(width, width)), k = block.add("k", nn::Linear(width, width)),
       v = block.add("v", nn::Linear(width, width)), proj = block.add("proj", nn::Linear(width, width));
  return block.running(
      [=](const torch::Tensor& x) mutable { return proj(attention(q(x.narrow(1, 0, 1)), k(x), v(x), heads)); });
}

/// Updates only the class token. As in the original, the other tokens are normalised once and added to themselves.
Block class_block(const XcitShape& shape) {
  const auto width = shape.width;
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width)), norm2 = block.add("norm2", layer_norm(width));
  auto attn = block.add("attn", class_attention(width, shape.heads));
  auto mlp = block.add("mlp", Mlp(width, 4 * width));
  const auto gamma1 = block.add("gamma1", shape.branch_scale()), gamma2 = block.add("gamma2", shape.branch_scale());
  return block.running([=, norms_all = shape.large](torch::Tensor x) mutable {
    const auto normed = norm1(x);
    x = x + gamma1 * torch::cat({attn(normed), normed.slice(1, 1)}, 1);
    if (norms_all) x = norm2(x);
    const auto first = norms_all ? x.narrow(1, 0, 1) : norm2(x.narrow(1, 0, 1)), rest = x.slice(1, 1);
    return torch::cat({first + gamma2 * mlp(first), rest + rest}, 1);
  });
}

class Xcit : public Layered<ByteImageModel> {
 public:
  explicit Xcit(const XcitShape& shape) : Layered(shape.side) {
    const auto width = shape.width;
    const auto halved = [](int64_t in, int64_t out) {
      return conv_norm(in, out, {.kernel = 3, .stride = 2, .act = Act::none});
    };
    add("patch_embed", chain({{"proj", Chain(halved(3, width / 4), activation(Act::gelu), halved(width / 4, width / 2),
                                             activation(Act::gelu), halved(width / 2, width))}}));
    const auto token = register_parameter("cls_token", 0.02 * torch::randn({1, 1, width}));
    add("pos_embed", fourier_places(width));
    Chain blocks;
    for (int64_t i = 0; i < shape.depth; ++i) blocks->push_back(xcit_block(shape));
    add("blocks", blocks);
    add(prepend(token));
    add("cls_attn_blocks", Chain(class_block(shape), class_block(shape)));
    add("norm", layer_norm(width));
    add(nn::Functional([](const torch::Tensor& x) { return x.select(1, 0); }));
    add("head", nn::Linear(width, 1000));
    init_linears_normal(*this, 0.02);
  }
};

TORCHSTONE_MODEL(xcit_nano_12_p8_224, .family = "xcit", .suites = {"timm"}, .train_batch = 16, .eval_batch = 16,
                 .parameters = 3'049'016, .make = by_preset<Xcit>(XcitShape{128, 12, 4, 224}, XcitShape{64, 2, 4, 64}));
TORCHSTONE_MODEL(xcit_large_24_p8_224, .family = "xcit", .suites = {"timm"}, .train_batch = 16, .eval_batch = 16,
                 .parameters = 188'932'648,
                 .make = by_preset<Xcit>(XcitShape{768, 24, 16, 224, /*large=*/true},
                                         XcitShape{64, 2, 4, 64, /*large=*/true}));

}  // namespace
}  // namespace torchstone::xcit
