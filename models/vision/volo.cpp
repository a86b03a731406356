// VOLO: each position rewrites its neighbourhood (outlook attention), followed by a transformer and a class token.
// Paper: Yuan, Hou, Jiang, Feng, Yan, "VOLO: vision outlooker for visual recognition", 2021. Original: timm's VOLO as
// volo_d1_224. Input [N, 3, 224, 224] → logits [N, 1000]; 26,632,040 parameters.
// mini: stages of 1, 1, 1 and 1 layers, widths 48 and 96, 64 pixels.
#include <cmath>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::volo {
namespace {

constexpr double norm_epsilon = 1e-5;
constexpr int64_t window_side = 3, window_area = window_side * window_side, window_stride = 2;  // of outlook attention

/// Every second position computes weights for all pairs of its 3x3 neighbours. Overlapping results are summed.
/// [N, H, W, width] → the same.
Block outlook_attention(int64_t width, int64_t heads) {
  Block block;
  auto v = block.add("v", linear_without_bias(width, width));
  auto attn = block.add("attn", nn::Linear(width, window_area * window_area * heads));
  auto proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto batch = x.size(0);
    const auto image = x.permute({0, 3, 1, 2});
    const auto patches = at::im2col(v(x).permute({0, 3, 1, 2}), {window_side, window_side}, /*dilation=*/{1, 1},
                                    /*padding=*/{1, 1}, {window_stride, window_stride});
    const auto places = patches.size(2);
    const auto values = patches.reshape({batch, heads, width / heads, window_area, places}).permute({0, 1, 4, 3, 2});
    const auto pooled = torch::avg_pool2d(image, window_stride, window_stride, /*padding=*/0, /*ceil_mode=*/true);
    const auto scores = attn(pooled.permute({0, 2, 3, 1}))
                            .reshape({batch, places, heads, window_area, window_area})
                            .permute({0, 2, 1, 3, 4});
    const auto weights = (scores / std::sqrt(static_cast<double>(width / heads))).softmax(-1);
    const auto columns =
        torch::matmul(weights, values).permute({0, 1, 4, 3, 2}).reshape({batch, width * window_area, places});
    const auto summed = at::col2im(columns, {x.size(1), x.size(2)}, {window_side, window_side}, {1, 1}, {1, 1},
                                   {window_stride, window_stride});
    return proj(summed.permute({0, 2, 3, 1}));
  });
}

/// Attention of the first token to all. [N, L, width] → [N, 1, width].
Block first_attention(int64_t width, int64_t heads) {
  Block block;
  auto kv = block.add("kv", linear_without_bias(width, 2 * width));
  auto q = block.add("q", linear_without_bias(width, width));
  auto proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = kv(x).chunk(2, -1);
    return proj(attention(q(x.narrow(1, 0, 1)), parts[0], parts[1], heads));
  });
}

/// x + attention(norm1(x)), then x + mlp(norm2(x)), for all positions or only the first token.
Block volo_layer(const Block& attention_block, int64_t width, bool first_only) {
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width, norm_epsilon));
  auto norm2 = block.add("norm2", layer_norm(width, norm_epsilon));
  auto attn = block.add("attn", attention_block);
  auto mlp = block.add("mlp", Mlp(width, 3 * width));
  return block.running([=](torch::Tensor x) mutable {
    auto y = (first_only ? x.narrow(1, 0, 1) : x) + attn(norm1(x));
    y = y + mlp(norm2(y));
    return first_only ? torch::cat({y, x.slice(1, 1)}, 1) : y;
  });
}

struct VoloShape {
  std::vector<int64_t> depths;
  int64_t narrow, narrow_heads, wide, wide_heads, side;
};

class Volo : public ByteImageModel {
 public:
  explicit Volo(const VoloShape& shape)
      : ByteImageModel(shape.side), halve_(conv(shape.narrow, shape.wide, 2, {.stride = 2})) {
    stem_ = conv_norm(3, 64, {.kernel = 7, .stride = 2});
    for (int64_t i = 0; i < 2; ++i) {
      const auto more = conv_norm(64, 64, {.kernel = 3});
      for (const auto& layer : *more) stem_->push_back(layer);
    }
    embed_ = conv(64, shape.narrow, 4, {.stride = 4});
    register_module("patch_embed", chain({{"conv", stem_}, {"proj", embed_}}));
    for (int64_t i = 0; i < shape.depths[0]; ++i)
      outlook_->push_back(volo_layer(outlook_attention(shape.narrow, shape.narrow_heads), shape.narrow, false));
    nn::ModuleList network;
    network->push_back(outlook_);
    network->push_back(chain({{"proj", halve_}}));
    const EncoderShape layer{.width = shape.wide,
                             .heads = shape.wide_heads,
                             .hidden = 3 * shape.wide,
                             .eps = norm_epsilon,
                             .qkv_bias = false};
    for (size_t stage = 1; stage < shape.depths.size(); ++stage) {
      stages_.emplace_back();
      for (int64_t i = 0; i < shape.depths[stage]; ++i) stages_.back()->push_back(encoder_layer(layer));
      network->push_back(stages_.back());
    }
    register_module("network", network);
    for (int64_t i = 0; i < 2; ++i)
      last_->push_back(volo_layer(first_attention(shape.wide, shape.wide_heads), shape.wide, true));
    register_module("post_network", last_);
    const auto grid = shape.side / 16;
    pos_embed_ = register_parameter("pos_embed", 0.02 * torch::randn({1, grid, grid, shape.wide}));
    class_token_ = register_parameter("cls_token", 0.02 * torch::randn({1, 1, shape.wide}));
    norm_ = register_module("norm", layer_norm(shape.wide, norm_epsilon));
    head_ = register_module("head", nn::Linear(shape.wide, 1000));
    aux_head_ = register_module("aux_head", nn::Linear(shape.wide, 1000));
    init_linears_normal(*this, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = outlook_(embed_(stem_(inputs.at(0))).permute({0, 2, 3, 1}));
    x = (halve_(x.permute({0, 3, 1, 2})).permute({0, 2, 3, 1}) + pos_embed_).flatten(1, 2);
    for (auto& stage : stages_) x = stage(x);
    x = norm_(last_(torch::cat({class_token_.expand({x.size(0), -1, -1}), x}, 1)));
    return head_(x.select(1, 0)) + 0.5 * std::get<0>(aux_head_(x.slice(1, 1)).max(1));
  }

 private:
  nn::Conv2d halve_, embed_{nullptr};
  Chain stem_{nullptr}, outlook_, last_;
  std::vector<Chain> stages_;
  torch::Tensor pos_embed_, class_token_;
  nn::LayerNorm norm_{nullptr};
  nn::Linear head_{nullptr}, aux_head_{nullptr};
};

TORCHSTONE_MODEL(volo_d1_224, .family = "volo", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 26'632'040,
                 .make = by_preset<Volo>(VoloShape{{4, 4, 8, 2}, 192, 6, 384, 12, 224},
                                         VoloShape{{1, 1, 1, 1}, 48, 2, 96, 4, 64}));

}  // namespace
}  // namespace torchstone::volo
