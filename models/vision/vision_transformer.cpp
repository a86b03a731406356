// ViT and DeiT: a transformer encoder over image patches and a class token; DeiT's distilled form has a second token.
// Papers: Dosovitskiy et al., "An image is worth 16x16 words", 2020; Touvron et al., "Training data-efficient image
// transformers & distillation through attention", 2020. Original: timm's VisionTransformer and
// VisionTransformerDistilled. Input [N, 3, 224, 224] → logits [N, 1000]; 22,050,664 (vit_small_patch16_224), 86,567,656
// (vit_base_patch16_224), 1,012,611,432 (vit_giant_patch14_224), 5,717,416 (deit_tiny_patch16_224) and 87,338,192
// (deit_base_distilled_patch16_224) parameters. mini: 2 layers of width 96, 64 pixels (giant: 56, a multiple of its
// patches of 14).
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::vision_transformer {
namespace {

struct VitShape {
  int64_t width, depth, heads, side = 224, patch = 16, hidden = 4 * width;
};

class VisionTransformer : public Layered<ByteImageModel> {
 public:
  VisionTransformer(const VitShape& shape, bool distilled) : Layered(shape.side) {
    const auto width = shape.width, patches = shape.side / shape.patch * (shape.side / shape.patch);
    const auto draw = [](at::IntArrayRef sizes) { return torch::randn(sizes) * 0.02; };
    Tensors tokens = {register_parameter("cls_token", draw({1, 1, width}))};
    if (distilled) tokens.push_back(register_parameter("dist_token", draw({1, 1, width})));
    const auto extra = static_cast<int64_t>(tokens.size());
    const auto pos_embed = register_parameter("pos_embed", draw({1, patches + extra, width}));
    add("patch_embed", PatchEmbed(shape.patch, width));
    add(nn::Functional([tokens, pos_embed](const torch::Tensor& x) {
      Tensors parts;
      for (const auto& token : tokens) parts.push_back(token.expand({x.size(0), -1, -1}));
      parts.push_back(x);
      return torch::cat(parts, 1) + pos_embed;
    }));
    Chain blocks;
    for (int64_t i = 0; i < shape.depth; ++i)
      blocks->push_back(encoder_layer({.width = width, .heads = shape.heads, .hidden = shape.hidden}));
    add("blocks", blocks);
    add("norm", layer_norm(width));
    nn::Linear head(width, 1000), head_dist{nullptr};
    register_module("head", head);
    if (distilled) head_dist = register_module("head_dist", nn::Linear(width, 1000));
    add(nn::Functional([head, head_dist](const torch::Tensor& x) mutable {
      if (!head_dist) return head(x.select(1, 0));
      return (head(x.select(1, 0)) + head_dist(x.select(1, 1))) / 2;
    }));
    init_linears_normal(*this, 0.02);
  }
};

auto make(const VitShape& full, bool distilled = false) {
  const VitShape mini{.width = 96,
                      .depth = 2,
                      .heads = 3,
                      .side = full.patch * 4,
                      .patch = full.patch,
                      .hidden = 96 * full.hidden / full.width};
  return by_preset<VisionTransformer>(std::tuple(full, distilled), std::tuple(mini, distilled));
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
                 .make = make({.width = 768, .depth = 12, .heads = 12}, /*distilled=*/true));

}  // namespace
}  // namespace torchstone::vision_transformer
