// NFNet: residual blocks without normalisation; the weights are standardised inside each forward pass instead.
// Paper: Brock, De, Smith, Simonyan, "High-performance large-scale image recognition without normalization", 2021.
// Original: timm's NormFreeNet as nfnet_l0 and dm_nfnet_f0. Input [N, 3, 224, 224], in inference [N, 3, 288, 288] →
// logits [N, 1000]; 35,074,488 parameters. dm_nfnet_f0: 192 and in inference 256 pixels, in torchbench.py (timm_nfnet)
// always 192; 71,489,284 parameters.
// mini: stages of 1, 1, 2 and 1 blocks, widths 32 to 128, groups of 8, 64 pixels.
#include <cmath>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::nfnet {
namespace {

constexpr double branch_scale = 0.2;              // factor of each branch
constexpr double gate_gain = 2.0;                 // restores the variance that the gate removes
constexpr double silu_gain = 1.7881293296813965;  // 1 / deviation of silu of a standard normal
constexpr double gelu_gain = 1.7015043497085571;  // the same of gelu

/// Maker of the network. DeepMind's has gelu, scaled after each activation instead of in the weights, TensorFlow's
/// padding, and a learned factor of each branch.
enum class Maker { timm, deep_mind };

torch::Tensor activated(Maker maker, const torch::Tensor& x) {
  return maker == Maker::timm ? torch::silu(x) : torch::gelu(x) * gelu_gain;
}
nn::Functional activation_of(Maker maker) {
  return nn::Functional([maker](const torch::Tensor& x) { return activated(maker, x); });
}

/// A convolution whose kernels have mean 0 and variance 1 / fan_in, times a learned gain. The originals initialise the
/// last gain of a branch with 0. Here it is 1, so that errors in the branch have an effect.
struct StandardConvImpl : nn::Conv2dImpl {
  StandardConvImpl(Maker maker, int64_t in, int64_t out, const ConvNorm& shape = {})
      : nn::Conv2dImpl(nn::Conv2dOptions(in, out, shape.kernel)
                           .stride(shape.stride)
                           .padding(maker == Maker::deep_mind && shape.stride > 1 ? 0 : shape.kernel / 2)
                           .groups(shape.groups)),
        gain(register_parameter("gain", torch::ones({out, 1, 1, 1}))),
        scale(maker == Maker::timm ? silu_gain : 1),
        uneven(maker == Maker::deep_mind && shape.stride > 1 ? shape.kernel : 0) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
    const auto standard =
        torch::batch_norm(weight.reshape({1, weight.size(0), -1}), (gain * (scale / std::sqrt(fan_in))).view(-1), {},
                          {}, {}, /*training=*/true, /*momentum=*/0, /*eps=*/1e-5, /*cudnn_enabled=*/true);
    const auto image = uneven > 0 ? pad_as_tensorflow(x, uneven, options.stride()->at(0)) : x;
    return torch::conv2d(image, standard.reshape_as(weight), bias, options.stride(),
                         std::get<torch::ExpandingArray<2>>(options.padding()), options.dilation(), options.groups());
  }
  torch::Tensor gain;
  double scale;
  int64_t uneven;  ///< kernel of TensorFlow's padding; 0: padded evenly
};
TORCH_MODULE(StandardConv);

struct BlockShape {
  Maker maker;
  int64_t in, middle, out, stride, group;
  double beta;  ///< 1 / expected deviation of the block's input
};

Block norm_free_block(const BlockShape& shape) {
  Block block;
  const auto maker = shape.maker;
  const auto middle = shape.middle;
  const ConvNorm wide{.kernel = 3, .groups = middle / shape.group};
  auto strided = wide;
  strided.stride = shape.stride;
  Chain downsample{nullptr};
  if (shape.in != shape.out || shape.stride != 1) {
    downsample = block.add("downsample", Chain());
    if (shape.stride != 1)
      downsample->push_back("pool", nn::AvgPool2d(nn::AvgPool2dOptions(2).ceil_mode(true).count_include_pad(false)));
    downsample->push_back("conv", StandardConv(maker, shape.in, shape.out));
  }
  auto conv1 = block.add("conv1", StandardConv(maker, shape.in, middle));
  auto conv2 = block.add("conv2", StandardConv(maker, middle, middle, strided));
  auto conv2b = block.add("conv2b", StandardConv(maker, middle, middle, wide));
  auto conv3 = block.add("conv3", StandardConv(maker, middle, shape.out));
  torch::Tensor gain;  // starts at 0 in the original, which would switch the branch off
  if (maker == Maker::deep_mind) gain = block.add("skipinit_gain", torch::tensor(0.5));
  auto gate = block.add("attn_last", squeeze_excite({.channels = shape.out, .squeezed = middle}));
  return block.running([=, beta = shape.beta](torch::Tensor x) mutable {
    const auto scaled = activated(maker, x) * beta;
    const auto shortcut = downsample ? downsample(scaled) : x;
    auto y = conv2(activated(maker, conv1(scaled)));
    y = conv3(activated(maker, conv2b(activated(maker, y))));
    y = gate_gain * gate(y);
    if (gain.defined()) y = y * gain;
    return y * branch_scale + shortcut;
  });
}

struct NfShape {
  std::vector<int64_t> depths, widths;
  int64_t stem, group, last, side;
  Maker maker = Maker::timm;
};

/// `Base` has the images of upstream's suite.
template <class Base>
class NormFreeNet : public Layered<Base> {
 public:
  explicit NormFreeNet(const NfShape& shape) : Layered<Base>(shape.side, 32) {
    const auto maker = shape.maker;
    const int64_t narrowing = maker == Maker::timm ? 4 : 2;
    Chain stem, stages;
    int64_t in = 3;
    for (int64_t i = 0; i < 4; ++i) {
      const auto out = shape.stem >> (3 - i);
      const auto number = std::to_string(i + 1);
      if (i > 0) stem->push_back("act" + number, activation_of(maker));
      stem->push_back("conv" + number,
                      StandardConv(maker, in, out, ConvNorm{.kernel = 3, .stride = i % 3 == 0 ? 2 : 1}));
      in = out;
    }
    this->add("stem", stem);
    double variance = 1;  // resets after the first block of each stage
    for (size_t stage = 0; stage < shape.depths.size(); ++stage) {
      Chain blocks;
      for (int64_t i = 0; i < shape.depths[stage]; ++i) {
        const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
        const auto out = shape.widths[stage];
        blocks->push_back(
            norm_free_block({maker, in, out / narrowing, out, stride, shape.group, 1 / std::sqrt(variance)}));
        variance = (i == 0 ? 1 : variance) + branch_scale * branch_scale;
        in = out;
      }
      stages->push_back(blocks);
    }
    this->add("stages", stages);
    this->add("final_conv", StandardConv(maker, in, shape.last));
    this->add(activation_of(maker));
    this->add("head", pooled_classifier(shape.last));
    init_linears_normal(*this, 0.01);
  }
};

/// Returns a factory whose full preset has these sides.
template <class Base>
auto make(const NfShape& full, int64_t training_side, int64_t inference_side) {
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    NfShape shape{{1, 1, 2, 1}, {32, 64, 128, 128}, 32, 8, 192, 64, full.maker};
    if (options.preset == Preset::full) {
      shape = full;
      shape.side = options.mode == Mode::training ? training_side : inference_side;
    }
    return std::make_shared<NormFreeNet<Base>>(shape);
  };
}

TORCHSTONE_MODEL(nfnet_l0, .family = "nfnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 35'074'488,
                 .make = make<ByteImageModel>({{1, 2, 6, 3}, {256, 512, 1536, 1536}, 128, 64, 2304, 224}, 224, 288));
const NfShape f0_shape{{1, 2, 6, 3}, {256, 512, 1536, 1536}, 128, 128, 3072, 192, Maker::deep_mind};
TORCHSTONE_MODEL(dm_nfnet_f0, .family = "nfnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 71'489'284, .make = make<ByteImageModel>(f0_shape, 192, 256));
/// dm_nfnet_f0 as torchbench.py runs it.
TORCHSTONE_MODEL(timm_nfnet, .family = "nfnet", .suites = {"torchbench"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 71'489'284, .make = make<ImageModel>(f0_shape, 192, 192));

}  // namespace
}  // namespace torchstone::nfnet
