// RepVGG: trained as 3x3 convolution + 1x1 convolution + identity, each normalised; deployed as one 3x3 convolution.
// Paper: Ding et al., "RepVGG: making VGG-style ConvNets great again", 2021.
// Original: timm's ByobNet as repvgg_a2, and the same after reparameterize_model. Input [N, 3, 224, 224] → logits
// [N, 1000]; 28,210,600 parameters, deployed 25,499,944. mini: stages of 2 and 2 blocks, widths 16 and 32, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::repvgg {
namespace {

struct RepBlockImpl : nn::Module {
  RepBlockImpl(int64_t in, int64_t out, int64_t stride, bool deployed) {
    if (deployed) {
      reparam_conv = register_module("reparam_conv", conv(in, out, 3, {.stride = stride, .padding = 1}));
      return;
    }
    const auto branch = [&](int64_t kernel) {
      return named_conv_norm(in, out, {.kernel = kernel, .stride = stride, .act = Act::none});
    };
    if (in == out && stride == 1) identity = register_module("identity", nn::BatchNorm2d(out));
    conv_kxk = register_module("conv_kxk", branch(3));
    conv_1x1 = register_module("conv_1x1", branch(1));
  }
  torch::Tensor forward(torch::Tensor x) {
    if (reparam_conv) return torch::relu(reparam_conv(x));
    const auto sum = conv_1x1(x) + conv_kxk(x);
    return torch::relu(identity ? sum + identity(x) : sum);
  }
  nn::Conv2d reparam_conv{nullptr};
  nn::BatchNorm2d identity{nullptr};
  Chain conv_kxk{nullptr}, conv_1x1{nullptr};
};
TORCH_MODULE(RepBlock);

struct Stage {
  int64_t depth, channels;
};

class RepVgg : public ByteImageModel {
 public:
  RepVgg(const std::vector<Stage>& stages, int64_t stem, int64_t side, bool deployed)
      : ByteImageModel(side, 32), stem_(register_module("stem", RepBlock(3, stem, 2, deployed))) {
    auto in = stem;
    for (const auto& stage : stages) {
      Chain blocks;
      for (int64_t i = 0; i < stage.depth; ++i) {
        blocks->push_back(RepBlock(in, stage.channels, i == 0 ? 2 : 1, deployed));
        in = stage.channels;
      }
      stages_->push_back(blocks);
    }
    register_module("stages", stages_);
    head_ = register_module("head", chain({{"fc", nn::Linear(in, 1000)}}));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto x = stages_->forward(stem_(inputs.at(0)));
    return head_(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

 private:
  RepBlock stem_;
  Chain stages_, head_{nullptr};
};

auto make(bool deployed) {
  using Stages = std::vector<Stage>;
  return by_preset<RepVgg>(std::tuple(Stages{{2, 96}, {4, 192}, {14, 384}, {1, 1408}}, 64, 224, deployed),
                           std::tuple(Stages{{2, 16}, {2, 32}}, 16, 64, deployed));
}

TORCHSTONE_MODEL(repvgg_a2, .family = "repvgg", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 28'210'600, .make = make(/*deployed=*/false));
TORCHSTONE_MODEL(repvgg_a2_deployed, .family = "repvgg", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 25'499'944, .make = make(/*deployed=*/true));

}  // namespace
}  // namespace torchstone::repvgg
