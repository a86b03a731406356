// NFNet: residual blocks without normalisation; the weights are standardised inside each forward pass instead.
// Paper: Brock, De, Smith, Simonyan, "High-performance large-scale image recognition without normalization", 2021.
// Original: timm's NormFreeNet as nfnet_l0. Input [N, 3, 224, 224], in inference
// [N, 3, 288, 288] → logits [N, 1000]; 35,074,488 parameters.
// mini: stages of 1, 1, 2 and 1 blocks, widths 32 to 128, groups of 8, 64 pixels.
#include <cmath>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::nfnet {
namespace {

constexpr double branch_scale = 0.2;              // factor of each branch
constexpr double gate_gain = 2.0;                 // restores the variance that the gate removes
constexpr double silu_gain = 1.7881293296813965;  // 1 / deviation of silu of a standard normal

/// A convolution whose kernels have mean 0 and variance 1 / fan_in, times a learned gain. The originals initialise the
/// last gain of a branch with 0. Here it is 1, so that errors in the branch have an effect.
struct StandardConvImpl : nn::Conv2dImpl {
  StandardConvImpl(int64_t in, int64_t out, const ConvNorm& shape = {})
      : nn::Conv2dImpl(nn::Conv2dOptions(in, out, shape.kernel)
                           .stride(shape.stride)
                           .padding(shape.kernel / 2)
                           .groups(shape.groups)),
        gain(register_parameter("gain", torch::ones({out, 1, 1, 1}))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
    const auto standard =
        torch::batch_norm(weight.reshape({1, weight.size(0), -1}), (gain * (silu_gain / std::sqrt(fan_in))).view(-1),
                          {}, {}, {}, /*training=*/true, /*momentum=*/0, /*eps=*/1e-5, /*cudnn_enabled=*/true);
    return torch::conv2d(x, standard.reshape_as(weight), bias, options.stride(),
                         std::get<torch::ExpandingArray<2>>(options.padding()), options.dilation(), options.groups());
  }
  torch::Tensor gain;
};
TORCH_MODULE(StandardConv);

struct BlockShape {
  int64_t in, out, stride, group;
  double beta;  ///< 1 / expected deviation of the block's input
};

Block norm_free_block(const BlockShape& shape) {
  Block block;
  const auto middle = shape.out / 4;
  const ConvNorm wide{.kernel = 3, .groups = middle / shape.group};
  auto strided = wide;
  strided.stride = shape.stride;
  Chain downsample{nullptr};
  if (shape.in != shape.out || shape.stride != 1) {
    downsample = block.add("downsample", Chain());
    if (shape.stride != 1)
      downsample->push_back("pool", nn::AvgPool2d(nn::AvgPool2dOptions(2).ceil_mode(true).count_include_pad(false)));
    downsample->push_back("conv", StandardConv(shape.in, shape.out));
  }
  auto conv1 = block.add("conv1", StandardConv(shape.in, middle));
  auto conv2 = block.add("conv2", StandardConv(middle, middle, strided));
  auto conv2b = block.add("conv2b", StandardConv(middle, middle, wide));
  auto conv3 = block.add("conv3", StandardConv(middle, shape.out));
  auto gate = block.add("attn_last", squeeze_excite({.channels = shape.out, .squeezed = middle}));
  return block.running([=, beta = shape.beta](torch::Tensor x) mutable {
    const auto scaled = torch::silu(x) * beta;
    const auto shortcut = downsample ? downsample(scaled) : x;
    auto y = conv2(torch::silu(conv1(scaled)));
    y = conv3(torch::silu(conv2b(torch::silu(y))));
    return gate_gain * gate(y) * branch_scale + shortcut;
  });
}

struct NfShape {
  std::vector<int64_t> depths, widths;
  int64_t stem, group, last, side;
};

class NormFreeNet : public Layered<ByteImageModel> {
 public:
  explicit NormFreeNet(const NfShape& shape) : Layered(shape.side, 32) {
    Chain stem, stages;
    int64_t in = 3;
    for (int64_t i = 0; i < 4; ++i) {
      const auto out = shape.stem >> (3 - i);
      const auto number = std::to_string(i + 1);
      if (i > 0) stem->push_back("act" + number, activation(Act::silu));
      stem->push_back("conv" + number, StandardConv(in, out, ConvNorm{.kernel = 3, .stride = i % 3 == 0 ? 2 : 1}));
      in = out;
    }
    add("stem", stem);
    double variance = 1;  // resets after the first block of each stage
    for (size_t stage = 0; stage < shape.depths.size(); ++stage) {
      Chain blocks;
      for (int64_t i = 0; i < shape.depths[stage]; ++i) {
        const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
        blocks->push_back(norm_free_block({in, shape.widths[stage], stride, shape.group, 1 / std::sqrt(variance)}));
        variance = (i == 0 ? 1 : variance) + branch_scale * branch_scale;
        in = shape.widths[stage];
      }
      stages->push_back(blocks);
    }
    add("stages", stages);
    add("final_conv", StandardConv(in, shape.last));
    add(activation(Act::silu));
    add("head", pooled_classifier(shape.last));
    init_linears_normal(*this, 0.01);
  }
};

TORCHSTONE_MODEL(
    nfnet_l0, .family = "nfnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128, .parameters = 35'074'488,
    .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      const NfShape full{{1, 2, 6, 3}, {256, 512, 1536, 1536}, 128, 64, 2304, side_of_224_or_288(options.mode)};
      const NfShape mini{{1, 1, 2, 1}, {32, 64, 128, 128}, 32, 8, 192, 64};
      return std::make_shared<NormFreeNet>(options.preset == Preset::full ? full : mini);
    });

}  // namespace
}  // namespace torchstone::nfnet
