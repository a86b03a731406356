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

Block beit_attention(int64_t width, int64_t heads, int64_t grid) {
  Block block;
  auto qkv = block.add("qkv", linear_without_bias(width, 3 * width));
  auto proj = block.add("proj", nn::Linear(width, width));
  const auto q_bias = block.add("q_bias", torch::zeros({width}));
  const auto k_bias = block.add_buffer("k_bias", torch::zeros({width}));
  const auto v_bias = block.add("v_bias", torch::zeros({width}));
  const auto rows = (2 * grid - 1) * (2 * grid - 1) + 3;
  const auto table = block.add("relative_position_bias_table", torch::randn({rows, heads}) * 0.02);
  const auto places = block.add_buffer("relative_position_index", places_with_class(grid));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = torch::linear(x, qkv->weight, torch::cat({q_bias, k_bias, v_bias})).chunk(3, -1);
    const AttentionRule rule{.bias = position_bias(table, places)};
    return proj(attention(parts[0], parts[1], parts[2], heads, rule));
  });
}

Block beit_block(int64_t width, int64_t heads, int64_t grid) {
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width)), norm2 = block.add("norm2", layer_norm(width));
  auto attn = block.add("attn", beit_attention(width, heads, grid));
  auto mlp = block.add("mlp", Mlp(width, 4 * width));
  const auto gamma_1 = block.add("gamma_1", first_scale(width)), gamma_2 = block.add("gamma_2", first_scale(width));
  return block.running([=](torch::Tensor x) mutable {
    x = x + gamma_1 * attn(norm1(x));
    return x + gamma_2 * mlp(norm2(x));
  });
}

class Beit : public Layered<ByteImageModel> {
 public:
  Beit(int64_t width, int64_t depth, int64_t heads, int64_t side) : Layered(side) {
    const auto token = register_parameter("cls_token", torch::randn({1, 1, width}) * 0.02);
    add("patch_embed", PatchEmbed(patch_side, width));
    add(prepend(token));
    Chain blocks;
    for (int64_t i = 0; i < depth; ++i) blocks->push_back(beit_block(width, heads, side / patch_side));
    add("blocks", blocks);
    add(nn::Functional([](const torch::Tensor& x) { return x.slice(1, 1).mean(1); }));
    add("fc_norm", layer_norm(width));
    add("head", nn::Linear(width, 1000));
    init_linears_normal(*this, 0.02);
  }

  bool in_state_dict(const std::string& name) const override {
    return !name.ends_with("k_bias") && !name.ends_with("relative_position_index");
  }
};

TORCHSTONE_MODEL(beit_base_patch16_224, .family = "beit", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 86'530'984,
                 .make = by_preset<Beit>(std::tuple(768, 12, 12, 224), std::tuple(96, 2, 3, 64)));

}  // namespace
}  // namespace torchstone::beit
