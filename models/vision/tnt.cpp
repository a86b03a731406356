// TNT: an inner transformer on the pixels of each patch feeds an outer one on the patches.
// Paper: Han, Xiao, Wu, Guo, Xu, Wang, "Transformer in transformer", 2021. Original: timm's TNT.
// Input [N, 3, 224, 224] → logits [N, 1000]; 23,768,584 parameters. mini: 2 layers of widths 12 and 96, 64 pixels.
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::tnt {
namespace {

constexpr int64_t patch_side = 16, pixel_stride = 4, inner_heads = 4;
constexpr int64_t pixel_side = patch_side / pixel_stride, pixels = pixel_side * pixel_side;
constexpr double eps = 1e-5;

Block pair_attention(int64_t width, int64_t heads) {
  Block block;
  auto qk = block.add("qk", linear_without_bias(width, 2 * width)),
       v = block.add("v", linear_without_bias(width, width));
  auto proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qk(x).chunk(2, -1);
    return proj(unfused_attention(parts[0], parts[1], v(x), heads));
  });
}

struct TntShape {
  int64_t inner, outer, heads, depth, side;
};

/// Norm, projection and norm from the pixels of a patch to its token. The owner has the layers as its children.
struct PatchOfPixels {
  PatchOfPixels(nn::Module& owner, const TntShape& shape, bool bias)
      : norm1(owner.register_module("norm1_proj", layer_norm(pixels * shape.inner, eps))),
        proj(
            owner.register_module("proj", nn::Linear(nn::LinearOptions(pixels * shape.inner, shape.outer).bias(bias)))),
        norm2(owner.register_module("norm2_proj", layer_norm(shape.outer, eps))) {}
  /// [N * patches, pixels, inner] → [N, patches, outer].
  torch::Tensor operator()(const torch::Tensor& x, int64_t batch) {
    return norm2(proj(norm1(x.reshape({batch, x.size(0) / batch, -1}))));
  }
  nn::LayerNorm norm1;
  nn::Linear proj;
  nn::LayerNorm norm2;
};

struct TntLayerImpl : nn::Module {
  explicit TntLayerImpl(const TntShape& shape)
      : norm_in(register_module("norm_in", layer_norm(shape.inner, eps))),
        norm_mlp_in(register_module("norm_mlp_in", layer_norm(shape.inner, eps))),
        norm_out(register_module("norm_out", layer_norm(shape.outer, eps))),
        norm_mlp(register_module("norm_mlp", layer_norm(shape.outer, eps))),
        attn_in(register_module("attn_in", pair_attention(shape.inner, inner_heads))),
        attn_out(register_module("attn_out", pair_attention(shape.outer, shape.heads))),
        mlp_in(register_module("mlp_in", Mlp(shape.inner, 4 * shape.inner))),
        mlp(register_module("mlp", Mlp(shape.outer, 4 * shape.outer))),
        patch(*this, shape, /*bias=*/false) {}

  /// Updates the pixels [N * patches, pixels, inner] and the tokens [N, 1 + patches, outer].
  void forward(torch::Tensor& inner, torch::Tensor& tokens) {
    inner = inner + attn_in(norm_in(inner));
    inner = inner + mlp_in(norm_mlp_in(inner));
    tokens = torch::cat({tokens.slice(1, 0, 1), tokens.slice(1, 1) + patch(inner, tokens.size(0))}, 1);
    tokens = tokens + attn_out(norm_out(tokens));
    tokens = tokens + mlp(norm_mlp(tokens));
  }

  nn::LayerNorm norm_in, norm_mlp_in, norm_out, norm_mlp;
  Block attn_in, attn_out;
  Mlp mlp_in, mlp;
  PatchOfPixels patch;
};
TORCH_MODULE(TntLayer);

class Tnt : public ByteImageModel {
 public:
  explicit Tnt(const TntShape& shape)
      : ByteImageModel(shape.side),
        pixels_(conv(3, shape.inner, 7, {.stride = pixel_stride, .padding = 3})),
        patch_(*this, shape, /*bias=*/true),
        norm_(register_module("norm", layer_norm(shape.outer, eps))),
        head_(register_module("head", nn::Linear(shape.outer, 1000))) {
    const auto patches = shape.side / patch_side * (shape.side / patch_side);
    register_module("pixel_embed", group({{"proj", pixels_.ptr()}}));
    const auto draw = [](at::IntArrayRef sizes) { return torch::randn(sizes) * 0.02; };
    token_ = register_parameter("cls_token", draw({1, 1, shape.outer}));
    patch_places_ = register_parameter("patch_pos", draw({1, patches + 1, shape.outer}));
    pixel_places_ = register_parameter("pixel_pos", draw({1, shape.inner, pixel_side, pixel_side}));
    for (int64_t i = 0; i < shape.depth; ++i) layers_.emplace_back(shape);
    register_module("blocks", list_of(layers_));
    init_linears_normal(*this, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& images = inputs.at(0);
    const auto batch = images.size(0);
    const auto columns = at::im2col(images, {patch_side, patch_side}, {1, 1}, {0, 0}, {patch_side, patch_side});
    const auto patches = columns.transpose(1, 2).reshape({-1, images.size(1), patch_side, patch_side});
    auto inner = (pixels_(patches) + pixel_places_).flatten(2).transpose(1, 2);
    auto tokens = torch::cat({token_.expand({batch, -1, -1}), patch_(inner, batch)}, 1) + patch_places_;
    for (auto& layer : layers_) layer->forward(inner, tokens);
    return head_(norm_(tokens).select(1, 0));
  }

 private:
  nn::Conv2d pixels_;
  PatchOfPixels patch_;
  nn::LayerNorm norm_;
  nn::Linear head_;
  torch::Tensor token_, patch_places_, pixel_places_;
  std::vector<TntLayer> layers_;
};

TORCHSTONE_MODEL(tnt_s_patch16_224, .family = "tnt", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 23'768'584,
                 .make = by_preset<Tnt>(TntShape{24, 384, 6, 12, 224}, TntShape{12, 96, 3, 2, 64}));

}  // namespace
}  // namespace torchstone::tnt
