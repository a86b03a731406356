// BEiT: a vision transformer whose attention adds a learned value for each distance, without a bias for keys.
// Paper: Bao, Dong, Piao, Wei, "BEiT: BERT pre-training of image transformers", 2021.
// Original: timm's Beit. Input [N, 3, 224, 224] → logits [N, 1000]; 86,530,984 parameters.
// mini: 2 layers of width 96, 64 pixels.
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::beit {
namespace {

constexpr int64_t patch_side = 16;

/// Returns the patches' relative positions with three more rows of the table: class to patch, patch to class, class to
/// class.
torch::Tensor places_with_class(int64_t grid) {
  const auto rows = (2 * grid - 1) * (2 * grid - 1);
  auto places = torch::constant_pad_nd(relative_positions(grid), {1, 0, 1, 0}, rows + 1);
  places[0].fill_(rows);
  places[0][0].fill_(rows + 2);
  return places;
}

struct BeitAttentionImpl : nn::Module {
  BeitAttentionImpl(int64_t width, int64_t head_count, int64_t grid)
      : qkv(register_module("qkv", linear_without_bias(width, 3 * width))),
        proj(register_module("proj", nn::Linear(width, width))),
        q_bias(register_parameter("q_bias", torch::zeros({width}))),
        k_bias(register_buffer("k_bias", torch::zeros({width}))),
        v_bias(register_parameter("v_bias", torch::zeros({width}))),
        table(register_parameter("relative_position_bias_table",
                                 torch::randn({(2 * grid - 1) * (2 * grid - 1) + 3, head_count}) * 0.02)),
        places(register_buffer("relative_position_index", places_with_class(grid))),
        heads(head_count) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto parts = torch::linear(x, qkv->weight, torch::cat({q_bias, k_bias, v_bias})).chunk(3, -1);
    const AttentionRule rule{.bias = position_bias(table, places).contiguous()};
    return proj(attention(parts[0], parts[1], parts[2], heads, rule));
  }
  nn::Linear qkv, proj;
  torch::Tensor q_bias, k_bias, v_bias, table, places;
  int64_t heads;
};
TORCH_MODULE(BeitAttention);

struct BeitBlockImpl : nn::Module {
  BeitBlockImpl(int64_t width, int64_t heads, int64_t grid)
      : norm1(register_module("norm1", layer_norm(width))),
        norm2(register_module("norm2", layer_norm(width))),
        attn(register_module("attn", BeitAttention(width, heads, grid))),
        mlp(register_module("mlp", Mlp(width, 4 * width))),
        gamma_1(register_parameter("gamma_1", first_scale(width))),
        gamma_2(register_parameter("gamma_2", first_scale(width))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = x + gamma_1 * attn(norm1(x));
    return x + gamma_2 * mlp(norm2(x));
  }
  nn::LayerNorm norm1, norm2;
  BeitAttention attn;
  Mlp mlp;
  torch::Tensor gamma_1, gamma_2;
};
TORCH_MODULE(BeitBlock);

class Beit : public ByteImageModel {
 public:
  Beit(int64_t width, int64_t depth, int64_t heads, int64_t side)
      : ByteImageModel(side),
        token_(register_parameter("cls_token", torch::randn({1, 1, width}) * 0.02)),
        patch_embed_(register_module("patch_embed", PatchEmbed(patch_side, width))) {
    for (int64_t i = 0; i < depth; ++i) blocks_->push_back(BeitBlock(width, heads, side / patch_side));
    register_module("blocks", blocks_);
    norm_ = register_module("fc_norm", layer_norm(width));
    head_ = register_module("head", nn::Linear(width, 1000));
    init_linears_normal(*this, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto patches = patch_embed_(inputs.at(0));
    const auto x = blocks_(torch::cat({token_.expand({patches.size(0), -1, -1}), patches}, 1));
    return head_(norm_(x.slice(1, 1).mean(1)));
  }

  bool in_state_dict(const std::string& name) const override {
    return !name.ends_with("k_bias") && !name.ends_with("relative_position_index");
  }

 private:
  torch::Tensor token_;
  PatchEmbed patch_embed_;
  Chain blocks_;
  nn::LayerNorm norm_{nullptr};
  nn::Linear head_{nullptr};
};

TORCHSTONE_MODEL(beit_base_patch16_224, .family = "beit", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 86'530'984,
                 .make = by_preset<Beit>(std::tuple(768, 12, 12, 224), std::tuple(96, 2, 3, 64)));

}  // namespace
}  // namespace torchstone::beit
