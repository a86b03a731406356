// XCiT: attention between channels instead of positions, convolutions between neighbours, and a final class token.
// Paper: El-Nouby et al., "XCiT: cross-covariance image transformers", 2021. Original: timm's Xcit as
// xcit_nano_12_p8_224. Input [N, 3, 224, 224] → logits [N, 1000]; 3,049,016 parameters.
// mini: 2 + 2 layers of width 64, 64 pixels.
#include <numbers>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::xcit {
namespace {

/// Projected sines and cosines of both coordinates: [1, width, side, side].
struct FourierPlacesImpl : nn::Module {
  explicit FourierPlacesImpl(int64_t width)
      : project(register_module("token_projection", conv(2 * wave_count, width, 1))) {}
  torch::Tensor forward(int64_t side) {
    const auto& weight = project->weight;
    const auto wide = weight.options().dtype(torch::kFloat32);
    const auto axis = torch::arange(1, side + 1, wide) / (static_cast<double>(side) + 1e-6) * (2 * std::numbers::pi);
    const auto power = torch::arange(wave_count / 2, wide) * (2.0 / wave_count);
    const auto angles = axis.unsqueeze(1) / torch::pow(1e4, power);
    const auto waves = torch::stack({angles.sin(), angles.cos()}, 2).flatten(1);
    const auto along = [&](int64_t dim) { return waves.unsqueeze(1 - dim).expand({side, side, wave_count}); };
    const auto both = torch::cat({along(0), along(1)}, 2).permute({2, 0, 1}).unsqueeze(0);
    return project(both.to(weight.scalar_type()));
  }
  static constexpr int64_t wave_count = 32;
  nn::Conv2d project;
};
TORCH_MODULE(FourierPlaces);

/// Attention between the channels of a head: softmax over their similarities.
struct ChannelAttentionImpl : nn::Module {
  ChannelAttentionImpl(int64_t width, int64_t head_count)
      : temperature(register_parameter("temperature", torch::ones({head_count, 1, 1}))),
        qkv(register_module("qkv", nn::Linear(width, 3 * width))),
        proj(register_module("proj", nn::Linear(width, width))),
        heads(head_count) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto parts = qkv(x).chunk(3, -1);
    const auto channels = [&](size_t i) { return split_heads(parts[i], heads).transpose(2, 3); };
    const auto scores = torch::matmul(unit_length(channels(0), -1), unit_length(channels(1), -1).transpose(2, 3));
    const auto mixed = torch::matmul((scores * temperature).softmax(-1), channels(2));
    return proj(join_heads(mixed.transpose(2, 3)));
  }
  torch::Tensor temperature;
  nn::Linear qkv, proj;
  int64_t heads;
};
TORCH_MODULE(ChannelAttention);

/// Mixes neighbouring tokens of a square image with two depthwise convolutions.
struct LocalInteractionImpl : nn::Module {
  explicit LocalInteractionImpl(int64_t width)
      : conv1(register_module("conv1", conv(width, width, 3, {.padding = 1, .groups = width}))),
        bn(register_module("bn", nn::BatchNorm2d(width))),
        conv2(register_module("conv2", conv(width, width, 3, {.padding = 1, .groups = width}))) {}
  torch::Tensor forward(const torch::Tensor& x, int64_t side) {
    const auto image = x.transpose(1, 2).reshape({x.size(0), x.size(2), side, side});
    return conv2(bn(torch::gelu(conv1(image)))).flatten(2).transpose(1, 2);
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn;
  nn::Conv2d conv2;
};
TORCH_MODULE(LocalInteraction);

struct XcitBlockImpl : nn::Module {
  XcitBlockImpl(int64_t width, int64_t heads)
      : norm1(register_module("norm1", layer_norm(width))),
        norm2(register_module("norm2", layer_norm(width))),
        norm3(register_module("norm3", layer_norm(width))),
        attn(register_module("attn", ChannelAttention(width, heads))),
        local(register_module("local_mp", LocalInteraction(width))),
        mlp(register_module("mlp", Mlp(width, 4 * width))),
        gamma1(register_parameter("gamma1", torch::ones({width}))),
        gamma2(register_parameter("gamma2", torch::ones({width}))),
        gamma3(register_parameter("gamma3", torch::ones({width}))) {}
  torch::Tensor forward(torch::Tensor x, int64_t side) {
    x = x + gamma1 * attn(norm1(x));
    x = x + gamma3 * local(norm3(x), side);
    return x + gamma2 * mlp(norm2(x));
  }
  nn::LayerNorm norm1, norm2, norm3;
  ChannelAttention attn;
  LocalInteraction local;
  Mlp mlp;
  torch::Tensor gamma1, gamma2, gamma3;
};
TORCH_MODULE(XcitBlock);

struct ClassAttentionImpl : nn::Module {
  ClassAttentionImpl(int64_t width, int64_t head_count)
      : q(register_module("q", nn::Linear(width, width))),
        k(register_module("k", nn::Linear(width, width))),
        v(register_module("v", nn::Linear(width, width))),
        proj(register_module("proj", nn::Linear(width, width))),
        heads(head_count) {}
  torch::Tensor forward(const torch::Tensor& x) { return proj(attention(q(x.narrow(1, 0, 1)), k(x), v(x), heads)); }
  nn::Linear q, k, v, proj;
  int64_t heads;
};
TORCH_MODULE(ClassAttention);

/// Updates only the class token. As in the original, the other tokens are normalised once and added to themselves.
struct ClassBlockImpl : nn::Module {
  ClassBlockImpl(int64_t width, int64_t heads)
      : norm1(register_module("norm1", layer_norm(width))),
        norm2(register_module("norm2", layer_norm(width))),
        attn(register_module("attn", ClassAttention(width, heads))),
        mlp(register_module("mlp", Mlp(width, 4 * width))),
        gamma1(register_parameter("gamma1", torch::ones({width}))),
        gamma2(register_parameter("gamma2", torch::ones({width}))) {}
  torch::Tensor forward(torch::Tensor x) {
    const auto normed = norm1(x);
    x = x + gamma1 * torch::cat({attn(normed), normed.slice(1, 1)}, 1);
    const auto first = norm2(x.narrow(1, 0, 1)), rest = x.slice(1, 1);
    return torch::cat({first + gamma2 * mlp(first), rest + rest}, 1);
  }
  nn::LayerNorm norm1, norm2;
  ClassAttention attn;
  Mlp mlp;
  torch::Tensor gamma1, gamma2;
};
TORCH_MODULE(ClassBlock);

class Xcit : public ByteImageModel {
 public:
  Xcit(int64_t width, int64_t depth, int64_t side) : ByteImageModel(side) {
    const auto halved = [](int64_t in, int64_t out) {
      return conv_norm(in, out, {.kernel = 3, .stride = 2, .act = Act::none});
    };
    stem_ = Chain(halved(3, width / 4), activation(Act::gelu), halved(width / 4, width / 2), activation(Act::gelu),
                  halved(width / 2, width));
    register_module("patch_embed", chain({{"proj", stem_}}));
    class_token_ = register_parameter("cls_token", 0.02 * torch::randn({1, 1, width}));
    places_ = register_module("pos_embed", FourierPlaces(width));
    for (int64_t i = 0; i < depth; ++i) blocks_.emplace_back(width, attention_heads);
    register_module("blocks", list_of(blocks_));
    class_blocks_ = register_module("cls_attn_blocks",
                                    Chain(ClassBlock(width, attention_heads), ClassBlock(width, attention_heads)));
    norm_ = register_module("norm", layer_norm(width));
    head_ = register_module("head", nn::Linear(width, 1000));
    init_linears_normal(*this, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = stem_(inputs.at(0));
    const auto side = x.size(2);
    x = (x + places_(side)).flatten(2).transpose(1, 2);
    for (auto& block : blocks_) x = block(x, side);
    x = class_blocks_(torch::cat({class_token_.expand({x.size(0), -1, -1}), x}, 1));
    return head_(norm_(x).select(1, 0));
  }

 private:
  static constexpr int64_t attention_heads = 4;
  Chain stem_{nullptr}, class_blocks_{nullptr};
  torch::Tensor class_token_;
  FourierPlaces places_{nullptr};
  std::vector<XcitBlock> blocks_;
  nn::LayerNorm norm_{nullptr};
  nn::Linear head_{nullptr};
};

TORCHSTONE_MODEL(xcit_nano_12_p8_224, .family = "xcit", .suites = {"timm"}, .train_batch = 16, .eval_batch = 16,
                 .parameters = 3'049'016, .make = by_preset<Xcit>(std::tuple(128, 12, 224), std::tuple(64, 2, 64)));

}  // namespace
}  // namespace torchstone::xcit
