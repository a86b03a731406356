// ConViT: the first layers mix attention by content with attention by distance, in learned proportions.
// Paper: d'Ascoli et al., "ConViT: improving vision transformers with soft convolutional inductive biases", 2021.
// Original: timm's ConVit. Input [N, 3, 224, 224] → logits [N, 1000]; 86,540,040 parameters. The class token joins
// after those layers. mini: 2 + 1 layers of width 64, 64 pixels.
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::convit {
namespace {

constexpr int64_t patch_side = 16;

/// Returns the column, the row and the squared distance from each position to each: [1, side^2, side^2, 3].
torch::Tensor offsets(int64_t side) {
  const auto axis = torch::arange(side, torch::kFloat32);
  const auto along = axis.unsqueeze(0) - axis.unsqueeze(1);
  const auto columns = along.repeat({side, side});
  const auto rows = along.repeat_interleave(side, 0).repeat_interleave(side, 1);
  return torch::stack({columns, rows, columns * columns + rows * rows}, -1).unsqueeze(0);
}

/// Gated positional self-attention.
Block gated_attention(int64_t width, int64_t heads, int64_t side) {
  Block block;
  auto qk = block.add("qk", linear_without_bias(width, 2 * width)),
       v = block.add("v", linear_without_bias(width, width));
  auto proj = block.add("proj", nn::Linear(width, width)), pos_proj = block.add("pos_proj", nn::Linear(3, heads));
  const auto gates = block.add("gating_param", torch::ones({heads}));
  const auto places = block.add_buffer("rel_indices", offsets(side));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qk(x).reshape({x.size(0), x.size(1), 2, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const auto by_place = pos_proj(places.expand({x.size(0), -1, -1, -1})).permute({0, 3, 1, 2});
    const auto by_content = attention_weights(parts[0], parts[1]);
    const auto gate = gates.view({1, -1, 1, 1});
    auto weights = (1 - torch::sigmoid(gate)) * by_content + torch::sigmoid(gate) * by_place.softmax(-1);
    weights /= weights.sum(-1).unsqueeze(-1);
    return proj(join_heads(weights.matmul(split_heads(v(x), heads))));
  });
}

Block plain_attention(int64_t width, int64_t heads) {
  Block block;
  auto qkv = block.add("qkv", linear_without_bias(width, 3 * width));
  auto proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qkv(x).chunk(3, -1);
    return proj(unfused_attention(parts[0], parts[1], parts[2], heads));
  });
}

struct ConvitShape {
  int64_t width, heads, gated_layers, layers, side;
};

class Convit : public Layered<ByteImageModel> {
 public:
  explicit Convit(const ConvitShape& shape) : Layered(shape.side) {
    const auto width = shape.width, side = shape.side / patch_side;
    const auto token = register_parameter("cls_token", torch::randn({1, 1, width}) * 0.02);
    const auto places = register_parameter("pos_embed", torch::randn({1, side * side, width}) * 0.02);
    add("patch_embed", PatchEmbed(patch_side, width));
    add(nn::Functional([places](const torch::Tensor& x) { return x + places; }));
    nn::ModuleList blocks;
    for (int64_t i = 0; i < shape.layers; ++i) {
      if (i == shape.gated_layers) add(prepend(token));
      const bool gated = i < shape.gated_layers;
      const auto layer =
          encoder_layer({.width = width, .heads = shape.heads, .hidden = 4 * width},
                        gated ? gated_attention(width, shape.heads, side) : plain_attention(width, shape.heads));
      blocks->push_back(layer);
      add(layer);
    }
    register_module("blocks", blocks);
    add("norm", layer_norm(width));
    add(nn::Functional([](const torch::Tensor& x) { return x.select(1, 0); }));
    add("head", nn::Linear(width, 1000));
    init_linears_normal(*this, 0.02);
  }

  bool in_state_dict(const std::string& name) const override { return !name.ends_with("rel_indices"); }
};

TORCHSTONE_MODEL(convit_base, .family = "convit", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 86'540'040,
                 .make = by_preset<Convit>(ConvitShape{768, 16, 10, 12, 224}, ConvitShape{64, 4, 2, 3, 64}));

}  // namespace
}  // namespace torchstone::convit
