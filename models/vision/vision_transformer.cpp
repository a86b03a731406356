// ViT and its relatives: a transformer encoder over image patches. ViT and DINOv2 read a class token, DeiT's distilled
// form also a second token. SigLIP has no token: one learned query attends to all patches.
// Papers: Dosovitskiy et al., "An image is worth 16x16 words", 2020; Touvron et al., "Training data-efficient image
// transformers & distillation through attention", 2020; Zhai et al., "Sigmoid loss for language image pre-training",
// 2023; Oquab et al., "DINOv2: learning robust visual features without supervision", 2023. Original: timm's
// VisionTransformer and VisionTransformerDistilled. Input [N, 3, 224, 224] → logits [N, 1000]; 22,050,664
// (vit_small_patch16_224), 86,567,656 (vit_base_patch16_224), 1,012,611,432 (vit_giant_patch14_224), 5,717,416
// (deit_tiny_patch16_224) and 87,338,192 (deit_base_distilled_patch16_224) parameters. Input [N, 3, 256, 256] →
// features [N, 768]; 92,930,304 parameters (vit_base_patch16_siglip_256). Input [N, 3, 518, 518] → features [N, 768];
// 86,579,712 parameters (vit_base_patch14_dinov2). mini: 2 layers of width 96, 64 pixels (patches of 14: 56).
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::vision_transformer {
namespace {

enum class Output {
  logits,            ///< of the class token
  mean_logits,       ///< mean of the logits of the class token and the distillation token
  class_token,       ///< its features
  attention_pooled,  ///< features of a learned query that attends to the patches
};

struct VitShape {
  int64_t width, depth, heads, side = 224, patch = 16, hidden = 4 * width;
  bool layer_scale = false;
  Output output = Output::logits;
};

/// Returns attention of one learned query to all tokens, and a feed-forward part: [N, L, width] → [N, width].
Block attention_pool(int64_t width, int64_t heads, int64_t hidden) {
  Block block;
  const auto latent = block.add("latent", torch::randn({1, 1, width}) * 0.02);
  auto q = block.add("q", nn::Linear(width, width)), kv = block.add("kv", nn::Linear(width, 2 * width));
  auto proj = block.add("proj", nn::Linear(width, width));
  auto norm = block.add("norm", layer_norm(width));
  auto mlp = block.add("mlp", Mlp(width, hidden));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto query = q(latent.expand({x.size(0), -1, -1}));
    const auto parts = kv(x).chunk(2, -1);
    const auto pooled = proj(attention(query, parts[0], parts[1], heads));
    return (pooled + mlp(norm(pooled))).select(1, 0);
  });
}

class VisionTransformer : public Layered<ByteImageModel> {
 public:
  explicit VisionTransformer(const VitShape& shape) : Layered(shape.side) {
    const auto add_positions = tokens_and_positions(shape);
    add("patch_embed", PatchEmbed(shape.patch, shape.width));
    add(add_positions);
    Chain blocks;
    for (int64_t i = 0; i < shape.depth; ++i)
      blocks->push_back(encoder_layer(
          {.width = shape.width, .heads = shape.heads, .hidden = shape.hidden, .layer_scale = shape.layer_scale}));
    add("blocks", blocks);
    add("norm", layer_norm(shape.width));
    add_output(shape);
    init_linears_normal(*this, 0.02);
  }

 private:
  /// Returns a layer that puts the tokens before the patches and adds the positions.
  nn::Functional tokens_and_positions(const VitShape& shape) {
    const auto add_normal = [&](const char* name, int64_t rows) {
      return register_parameter(name, torch::randn({1, rows, shape.width}) * 0.02);
    };
    Tensors tokens;
    if (shape.output != Output::attention_pooled) tokens.push_back(add_normal("cls_token", 1));
    if (shape.output == Output::mean_logits) tokens.push_back(add_normal("dist_token", 1));
    const auto patches = shape.side / shape.patch * (shape.side / shape.patch);
    const auto pos_embed = add_normal("pos_embed", patches + static_cast<int64_t>(tokens.size()));
    return nn::Functional([tokens, pos_embed](const torch::Tensor& x) {
      if (tokens.empty()) return x + pos_embed;
      Tensors parts;
      for (const auto& token : tokens) parts.push_back(token.expand({x.size(0), -1, -1}));
      parts.push_back(x);
      return torch::cat(parts, 1) + pos_embed;
    });
  }
  void add_output(const VitShape& shape) {
    if (shape.output == Output::attention_pooled) {
      add("attn_pool", attention_pool(shape.width, shape.heads, shape.hidden));
      return;
    }
    nn::Linear head{nullptr}, head_dist{nullptr};
    if (shape.output != Output::class_token) head = register_module("head", nn::Linear(shape.width, 1000));
    if (shape.output == Output::mean_logits) head_dist = register_module("head_dist", nn::Linear(shape.width, 1000));
    add(nn::Functional([head, head_dist](const torch::Tensor& x) mutable {
      const auto token = x.select(1, 0);
      if (!head) return token;
      return head_dist ? (head(token) + head_dist(x.select(1, 1))) / 2 : head(token);
    }));
  }
};

auto make(const VitShape& full) {
  auto mini = full;
  mini.width = 96;
  mini.depth = 2;
  mini.heads = 3;
  mini.side = full.patch * 4;
  mini.hidden = 96 * full.hidden / full.width;
  return by_preset<VisionTransformer>(full, mini);
}

TORCHSTONE_MODEL(vit_small_patch16_224, .family = "vision_transformer", .suites = {"timm"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 22'050'664, .make = make({.width = 384, .depth = 12, .heads = 6}));
TORCHSTONE_MODEL(vit_base_patch16_224, .family = "vision_transformer", .suites = {"timm"}, .train_batch = 128,
                 .eval_batch = 128, .parameters = 86'567'656, .make = make({.width = 768, .depth = 12, .heads = 12}));
TORCHSTONE_MODEL(vit_giant_patch14_224, .family = "vision_transformer", .suites = {"timm"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 1'012'611'432,
                 .make = make({.width = 1408, .depth = 40, .heads = 16, .patch = 14, .hidden = 6144}));
TORCHSTONE_MODEL(deit_tiny_patch16_224, .family = "vision_transformer", .suites = {"timm"}, .train_batch = 128,
                 .eval_batch = 128, .parameters = 5'717'416, .make = make({.width = 192, .depth = 12, .heads = 3}));
TORCHSTONE_MODEL(deit_base_distilled_patch16_224, .family = "vision_transformer", .suites = {"timm"},
                 .train_batch = 128, .eval_batch = 128, .parameters = 87'338'192,
                 .make = make({.width = 768, .depth = 12, .heads = 12, .output = Output::mean_logits}));
TORCHSTONE_MODEL(
    vit_base_patch16_siglip_256, .family = "vision_transformer", .suites = {"timm"}, .train_batch = 128,
    .eval_batch = 128, .parameters = 92'930'304,
    .make = make({.width = 768, .depth = 12, .heads = 12, .side = 256, .output = Output::attention_pooled}));
TORCHSTONE_MODEL(vit_base_patch14_dinov2, .family = "vision_transformer", .suites = {"timm"}, .train_batch = 128,
                 .eval_batch = 128, .parameters = 86'579'712,
                 .make = make({.width = 768,
                               .depth = 12,
                               .heads = 12,
                               .side = 518,
                               .patch = 14,
                               .layer_scale = true,
                               .output = Output::class_token}));

}  // namespace
}  // namespace torchstone::vision_transformer
