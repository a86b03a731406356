// PiT: a vision transformer in stages, with a strided depthwise convolution of the patches between them.
// Paper: Heo et al., "Rethinking spatial dimensions of vision transformers", 2021. Original: timm's
// PoolingVisionTransformer. Input [N, 3, 224, 224] → logits [N, 1000]; 73,764,840 parameters. mini: stages of one
// layer, widths 32 to 128, 56 pixels.
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::pit {
namespace {

constexpr int64_t patch = 14, patch_stride = 7;

struct PitStage {
  int64_t depth, heads;
};

class PoolingTransformer : public ByteImageModel {
 public:
  PoolingTransformer(int64_t head_width, const std::vector<PitStage>& stages, int64_t side) : ByteImageModel(side) {
    auto width = head_width * stages.front().heads;
    const auto grid = (side - patch) / patch_stride + 1;
    patches_ = conv(3, width, patch, {.stride = patch_stride});
    register_module("patch_embed", group({{"conv", patches_.ptr()}}));
    positions_ = register_parameter("pos_embed", torch::randn({1, width, grid, grid}) * 0.02);
    token_ = register_parameter("cls_token", torch::randn({1, 1, width}) * 0.02);
    nn::ModuleList transformers;
    for (const auto& shape : stages) {
      const auto in = width;
      width = head_width * shape.heads;
      Stage stage;
      auto modules = group({});
      if (in != width) {
        stage.pool = conv(in, width, 3, {.stride = 2, .padding = 1, .groups = in});
        stage.token = nn::Linear(in, width);
        modules->register_module("pool", group({{"conv", stage.pool.ptr()}, {"fc", stage.token.ptr()}}));
      }
      for (int64_t i = 0; i < shape.depth; ++i)
        stage.blocks->push_back(encoder_layer({.width = width, .heads = shape.heads, .hidden = 4 * width}));
      modules->register_module("blocks", stage.blocks);
      transformers->push_back(modules);
      stages_.push_back(stage);
    }
    register_module("transformers", transformers);
    norm_ = register_module("norm", layer_norm(width));
    head_ = register_module("head", nn::Linear(width, 1000));
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = patches_(inputs.at(0)) + positions_;
    auto token = token_.expand({x.size(0), -1, -1});
    for (auto& stage : stages_) {
      if (stage.pool) {
        x = stage.pool(x);
        token = stage.token(token);
      }
      const auto rows = x.size(2), columns = x.size(3);
      const auto all = stage.blocks(torch::cat({token, x.flatten(2).transpose(1, 2)}, 1));
      token = all.slice(1, 0, 1);
      x = all.slice(1, 1).transpose(1, 2).reshape({all.size(0), all.size(2), rows, columns});
    }
    return head_(norm_(token).select(1, 0));
  }

 private:
  struct Stage {
    nn::Conv2d pool{nullptr};
    nn::Linear token{nullptr};
    Chain blocks;
  };
  nn::Conv2d patches_{nullptr};
  torch::Tensor positions_, token_;
  std::vector<Stage> stages_;
  nn::LayerNorm norm_{nullptr};
  nn::Linear head_{nullptr};
};

using Stages = std::vector<PitStage>;
TORCHSTONE_MODEL(pit_b_224, .family = "pit", .suites = {"timm"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 73'764'840,
                 .make = by_preset<PoolingTransformer>(std::tuple(64, Stages{{3, 4}, {6, 8}, {4, 16}}, 224),
                                                       std::tuple(16, Stages{{1, 2}, {1, 4}, {1, 8}}, 56)));

}  // namespace
}  // namespace torchstone::pit
