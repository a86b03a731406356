// CrossViT: two transformers on patches of two sizes exchange their class tokens by attention.
// Paper: Chen, Fan, Panda, "CrossViT: cross-attention multi-scale vision transformer for image classification", 2021.
// Original: timm's CrossVit. Input [N, 3, 240, 240] → logits [N, 1000]; 8,553,296 parameters. The second transformer
// sees the image in 224 pixels. mini: two stages, widths 32 and 48, 120 pixels.
#include <array>

#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::crossvit {
namespace {

constexpr size_t branches = 2;
using Tokens = std::array<torch::Tensor, branches>;

/// Attention of the first token to all.
Block first_token_attention(int64_t width, int64_t heads) {
  Block block;
  auto wq = block.add("wq", nn::Linear(width, width)), wk = block.add("wk", nn::Linear(width, width)),
       wv = block.add("wv", nn::Linear(width, width)), proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    return proj(unfused_attention(wq(x.slice(1, 0, 1)), wk(x), wv(x), heads));
  });
}

/// Returns the updated first token: [N, L, width] → [N, 1, width].
Block fusion(int64_t width, int64_t heads) {
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width));
  auto attn = block.add("attn", first_token_attention(width, heads));
  return block.running([=](const torch::Tensor& x) mutable { return x.slice(1, 0, 1) + attn(norm1(x)); });
}

struct CrossVitShape {
  std::array<int64_t, branches> widths, depths;
  int64_t heads, stages, side;
};

/// One stage: each branch's layers, then its class token attends to the other branch's patches.
struct StageImpl : nn::Module {
  explicit StageImpl(const CrossVitShape& shape) {
    const auto projection = [](int64_t in, int64_t out) {
      return Chain(layer_norm(in), activation(Act::gelu), nn::Linear(in, out));
    };
    for (size_t i = 0; i < branches; ++i) {
      const auto width = shape.widths[i], other = shape.widths[1 - i];
      layers.emplace_back();
      for (int64_t layer = 0; layer < shape.depths[i]; ++layer)
        layers[i]->push_back(encoder_layer({.width = width, .heads = shape.heads, .hidden = 3 * width}));
      to_other.push_back(projection(width, other));
      fusions.push_back(fusion(other, shape.heads));
      back.push_back(projection(other, width));
    }
    register_module("blocks", list_of(layers));
    register_module("projs", list_of(to_other));
    register_module("fusion", list_of(fusions));
    register_module("revert_projs", list_of(back));
  }

  Tokens forward(const Tokens& x) {
    Tokens own, found, updated;
    for (size_t i = 0; i < branches; ++i) own[i] = layers[i](x[i]);
    for (size_t i = 0; i < branches; ++i) found[i] = to_other[i](own[i].slice(1, 0, 1));
    for (size_t i = 0; i < branches; ++i) {
      const auto token = back[i](fusions[i](torch::cat({found[i], own[1 - i].slice(1, 1)}, 1)));
      updated[i] = torch::cat({token, own[i].slice(1, 1)}, 1);
    }
    return updated;
  }

  std::vector<Chain> layers{}, to_other{}, back{};
  std::vector<Block> fusions{};
};
TORCH_MODULE(Stage);

class CrossVit : public ByteImageModel {
 public:
  explicit CrossVit(const CrossVitShape& shape) : ByteImageModel(shape.side), smaller_(shape.side * 14 / 15) {
    constexpr std::array<int64_t, branches> patches{12, 16};
    for (size_t i = 0; i < branches; ++i) {
      const auto width = shape.widths[i], side = (i == 0 ? shape.side : smaller_) / patches[i];
      const auto number = std::to_string(i);
      places_[i] = register_parameter("pos_embed_" + number, torch::randn({1, 1 + side * side, width}) * 0.02);
      tokens_[i] = register_parameter("cls_token_" + number, torch::randn({1, 1, width}) * 0.02);
      embeds_.emplace_back(patches[i], width);
      norms_.push_back(layer_norm(width));
      heads_.emplace_back(width, 1000);
    }
    register_module("patch_embed", list_of(embeds_));
    for (int64_t i = 0; i < shape.stages; ++i) stages_.emplace_back(shape);
    register_module("blocks", list_of(stages_));
    register_module("norm", list_of(norms_));
    register_module("head", list_of(heads_));
    init_linears_normal(*this, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    Tokens x;
    for (size_t i = 0; i < branches; ++i) {
      const auto image = i == 0 ? inputs.at(0) : at::upsample_bicubic2d(inputs.at(0), {smaller_, smaller_}, false);
      x[i] = torch::cat({tokens_[i].expand({image.size(0), -1, -1}), embeds_[i](image)}, 1) + places_[i];
    }
    for (auto& stage : stages_) x = stage(x);
    Tensors logits;
    for (size_t i = 0; i < branches; ++i) x[i] = norms_[i](x[i]);
    for (size_t i = 0; i < branches; ++i) logits.push_back(heads_[i](x[i].select(1, 0)));
    return torch::stack(logits).mean(0);
  }

 private:
  int64_t smaller_;
  Tokens places_, tokens_;
  std::vector<PatchEmbed> embeds_;
  std::vector<Stage> stages_;
  std::vector<nn::LayerNorm> norms_;
  std::vector<nn::Linear> heads_;
};

TORCHSTONE_MODEL(crossvit_9_240, .family = "crossvit", .suites = {"timm"}, .train_batch = 256, .eval_batch = 256,
                 .parameters = 8'553'296,
                 .make = by_preset<CrossVit>(CrossVitShape{{128, 256}, {1, 3}, 4, 3, 240},
                                             CrossVitShape{{32, 48}, {1, 2}, 2, 2, 120}));

}  // namespace
}  // namespace torchstone::crossvit
