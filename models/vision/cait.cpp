// CaiT: attention whose scores and weights are mixed over the heads. A class token joins for the last two layers, which
// change only this token. Paper: Touvron et al., "Going deeper with image transformers", 2021. Original: timm's Cait.
// Input [N, 3, 384, 384] → logits [N, 1000]; 271,221,352 parameters. mini: 2 + 2 layers of width 96, 64 pixels.
#include <cmath>

#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::cait {
namespace {

/// Attention with linear layers over the heads before and after the softmax.
Block talking_attention(int64_t width, int64_t heads) {
  Block block;
  auto qkv = block.add("qkv", nn::Linear(width, 3 * width));
  auto proj = block.add("proj", nn::Linear(width, width));
  auto proj_l = block.add("proj_l", nn::Linear(heads, heads)), proj_w = block.add("proj_w", nn::Linear(heads, heads));
  const auto scale = 1 / std::sqrt(static_cast<double>(width / heads));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qkv(x).chunk(3, -1);
    const auto query = split_heads(parts[0], heads) * scale, key = split_heads(parts[1], heads);
    const auto scores = torch::matmul(query, key.transpose(2, 3)).permute({0, 2, 3, 1});
    const auto weights = proj_w(proj_l(scores).permute({0, 3, 1, 2}).softmax(-1).permute({0, 2, 3, 1}));
    return proj(join_heads(torch::matmul(weights.permute({0, 3, 1, 2}), split_heads(parts[2], heads))));
  });
}

/// Attention of the first token to all.
Block class_attention(int64_t width, int64_t heads) {
  Block block;
  auto q = block.add("q", nn::Linear(width, width)), k = block.add("k", nn::Linear(width, width));
  auto v = block.add("v", nn::Linear(width, width)), proj = block.add("proj", nn::Linear(width, width));
  return block.running(
      [=](const torch::Tensor& x) mutable { return proj(attention(q(x.slice(1, 0, 1)), k(x), v(x), heads)); });
}

/// A layer of one kind of attention: x + gamma_1 * attn(norm1(all)), then x + gamma_2 * mlp(norm2(x)). `all` is x, or
/// the class token x before the others.
struct CaitLayerImpl : nn::Module {
  CaitLayerImpl(int64_t width, int64_t heads, Block (*make_attention)(int64_t width, int64_t heads))
      : attn(register_module("attn", make_attention(width, heads))),
        norm1(register_module("norm1", layer_norm(width))),
        norm2(register_module("norm2", layer_norm(width))),
        mlp(register_module("mlp", Mlp(width, 4 * width))),
        gamma_1(register_parameter("gamma_1", first_scale(width))),
        gamma_2(register_parameter("gamma_2", first_scale(width))) {}
  torch::Tensor forward(torch::Tensor x) { return forward(x, x); }
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& all) {
    x = x + gamma_1 * attn(norm1(all));
    return x + gamma_2 * mlp(norm2(x));
  }
  Block attn;
  nn::LayerNorm norm1, norm2;
  Mlp mlp;
  torch::Tensor gamma_1, gamma_2;
};
TORCH_MODULE(CaitLayer);

class CaiT : public ByteImageModel {
 public:
  CaiT(int64_t width, int64_t depth, int64_t heads, int64_t side)
      : ByteImageModel(side),
        patches_(register_module("patch_embed", PatchEmbed(16, width))),
        norm_(register_module("norm", layer_norm(width))),
        head_(register_module("head", nn::Linear(width, 1000))),
        token_(register_parameter("cls_token", torch::randn({1, 1, width}) * 0.02)),
        positions_(register_parameter("pos_embed", torch::randn({1, side / 16 * (side / 16), width}) * 0.02)) {
    for (int64_t i = 0; i < depth; ++i) layers_.push_back(CaitLayer(width, heads, talking_attention));
    for (int64_t i = 0; i < 2; ++i) of_token_.push_back(CaitLayer(width, heads, class_attention));
    register_module("blocks", list_of(layers_));
    register_module("blocks_token_only", list_of(of_token_));
    init_linears_normal(*this, 0.02);
  }
  c10::IValue forward(const Tensors& inputs) override {
    auto x = patches_(inputs.at(0)) + positions_;
    for (auto& layer : layers_) x = layer->forward(x);
    auto token = token_.expand({x.size(0), -1, -1});
    for (auto& layer : of_token_) token = layer->forward(token, torch::cat({token, x}, 1));
    return head_(norm_(torch::cat({token, x}, 1)).select(1, 0));
  }

 private:
  PatchEmbed patches_;
  nn::LayerNorm norm_;
  nn::Linear head_;
  torch::Tensor token_, positions_;
  std::vector<CaitLayer> layers_, of_token_;
};

TORCHSTONE_MODEL(cait_m36_384, .family = "cait", .suites = {"timm"}, .train_batch = 4, .eval_batch = 4,
                 .parameters = 271'221'352,
                 .make = by_preset<CaiT>(std::tuple(768, 36, 16, 384), std::tuple(96, 2, 3, 64)));

}  // namespace
}  // namespace torchstone::cait
