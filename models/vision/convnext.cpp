// ConvNeXt: 7x7 depthwise convolution, LayerNorm and an MLP over the channels; V2 adds a global response norm.
// Papers: Liu et al., "A ConvNet for the 2020s", 2022; Woo et al., "ConvNeXt V2", 2023.
// Original: timm's ConvNeXt. Input [N, 3, 224, 224], in inference [N, 3, 288, 288] → logits [N, 1000]; 28,589,128
// (convnext_tiny), 88,591,464 (convnext_base) and 15,623,800 (convnextv2_nano) parameters. mini: stages of one block,
// widths 16 to 128, 64 pixels.
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::convnext {
namespace {

/// x plus x times each channel's norm over the image, relative to the mean of all channels.
struct ResponseNormImpl : nn::Module {
  explicit ResponseNormImpl(int64_t channels)
      : weight(register_parameter("weight", torch::full({channels}, first_layer_scale))),
        bias(register_parameter("bias", torch::zeros({channels}))) {}
  torch::Tensor forward(torch::Tensor x) {
    const auto norms = x.norm(2, {2, 3}, /*keepdim=*/true);
    const auto relative = norms / (norms.mean(1, /*keepdim=*/true) + 1e-6);
    return x + torch::addcmul(bias.view({1, -1, 1, 1}), weight.view({1, -1, 1, 1}), x * relative);
  }
  torch::Tensor weight, bias;
};
TORCH_MODULE(ResponseNorm);

nn::Conv2d depthwise(int64_t width) { return conv(width, width, 7, {.padding = 3, .groups = width}); }

/// V1: an MLP over the last dimension, the channels, whose result is scaled.
struct BlockImpl : nn::Module {
  explicit BlockImpl(int64_t width)
      : conv_dw(register_module("conv_dw", depthwise(width))),
        norm(register_module("norm", layer_norm(width))),
        mlp(register_module("mlp", Mlp(width, 4 * width))),
        gamma(register_parameter("gamma", first_scale(width))) {}
  torch::Tensor forward(torch::Tensor x) {
    const auto mixed = mlp(norm(conv_dw(x).permute({0, 2, 3, 1}))).permute({0, 3, 1, 2});
    return mixed * gamma.view({1, -1, 1, 1}) + x;
  }
  nn::Conv2d conv_dw;
  nn::LayerNorm norm;
  Mlp mlp;
  torch::Tensor gamma;
};
TORCH_MODULE(Block);

/// V2: 1x1 convolutions with a response norm between them.
struct BlockV2Impl : nn::Module {
  explicit BlockV2Impl(int64_t width)
      : conv_dw(register_module("conv_dw", depthwise(width))),
        norm(register_module("norm", ChannelNorm(width))),
        mlp(register_module("mlp", chain({{"fc1", conv(width, 4 * width, 1)},
                                          {"act", activation(Act::gelu)},
                                          {"grn", ResponseNorm(4 * width)},
                                          {"fc2", conv(4 * width, width, 1)}}))) {}
  torch::Tensor forward(torch::Tensor x) { return mlp(norm(conv_dw(x))) + x; }
  nn::Conv2d conv_dw;
  ChannelNorm norm;
  Chain mlp;
};
TORCH_MODULE(BlockV2);

using List = std::vector<int64_t>;

template <class Block>
class ConvNeXt : public ByteImageModel {
 public:
  ConvNeXt(const List& depths, const List& widths, int64_t side) : ByteImageModel(side, 32) {
    stem_ = register_module("stem", Chain(conv(3, widths[0], 4, {.stride = 4}), ChannelNorm(widths[0])));
    for (size_t i = 0; i < depths.size(); ++i) {
      Chain blocks, stage;
      for (int64_t block = 0; block < depths[i]; ++block) blocks->push_back(Block(widths[i]));
      if (i > 0) {
        const auto in = widths[i - 1];
        stage->push_back("downsample", Chain(ChannelNorm(in), conv(in, widths[i], 2, {.stride = 2})));
      }
      stage->push_back("blocks", blocks);
      stages_->push_back(stage);
    }
    register_module("stages", stages_);
    norm_ = ChannelNorm(widths.back());
    fc_ = nn::Linear(widths.back(), 1000);
    register_module("head", group({{"norm", norm_.ptr()}, {"fc", fc_.ptr()}}));
    init_linears_normal(*this, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto x = stages_->forward(stem_(inputs.at(0)));
    return fc_(norm_(torch::adaptive_avg_pool2d(x, {1, 1})).flatten(1));
  }

 private:
  Chain stem_{nullptr}, stages_;
  ChannelNorm norm_{nullptr};
  nn::Linear fc_{nullptr};
};

template <class Block>
auto make(const List& depths, const List& widths) {
  return [depths, widths](const ModelOptions& options) -> std::shared_ptr<Model> {
    if (options.preset == Preset::full)
      return std::make_shared<ConvNeXt<Block>>(depths, widths, side_of_224_or_288(options.mode));
    return std::make_shared<ConvNeXt<Block>>(List{1, 1, 1, 1}, List{16, 32, 64, 128}, 64);
  };
}

TORCHSTONE_MODEL(convnext_tiny, .family = "convnext", .suites = {"timm"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 28'589'128, .make = make<Block>({3, 3, 9, 3}, {96, 192, 384, 768}));
TORCHSTONE_MODEL(convnext_base, .family = "convnext", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 88'591'464, .make = make<Block>({3, 3, 27, 3}, {128, 256, 512, 1024}));
TORCHSTONE_MODEL(convnextv2_nano, .family = "convnext", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 15'623'800, .make = make<BlockV2>({2, 2, 8, 2}, {80, 160, 320, 640}));

}  // namespace
}  // namespace torchstone::convnext
