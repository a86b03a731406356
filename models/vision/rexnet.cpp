// ReXNet: inverted bottlenecks whose number of channels grows a little with each block.
// Paper: Han et al., "Rethinking channel dimensions for efficient model design", 2020. Original: timm's RexNet.
// Input [N, 3, 224, 224] → logits [N, 1000]; 4,796,873 parameters. mini: 7 instead of 16 blocks, 64 pixels.
#include <cmath>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::rexnet {
namespace {

/// Squeeze-and-excitation with BatchNorm between its convolutions.
Block normed_squeeze_excite(int64_t channels) {
  const auto squeezed = channels / 12;
  Block block;
  auto fc1 = block.add("fc1", conv(channels, squeezed, 1));
  auto bn = block.add("bn", nn::BatchNorm2d(squeezed));
  auto fc2 = block.add("fc2", conv(squeezed, channels, 1));
  return block.running([=](const torch::Tensor& x) mutable {
    return x * torch::sigmoid(fc2(torch::relu(bn(fc1(torch::adaptive_avg_pool2d(x, {1, 1}))))));
  });
}

Block linear_bottleneck(int64_t in, int64_t out, int64_t stride, bool expands, bool squeezes) {
  const auto hidden = expands ? 6 * in : in;
  Block block;
  Chain body;
  if (expands) body->push_back(block.add("conv_exp", named_conv_norm(in, hidden, {.act = Act::silu})));
  body->push_back(block.add(
      "conv_dw", named_conv_norm(hidden, hidden, {.kernel = 3, .stride = stride, .groups = hidden, .act = Act::none})));
  if (squeezes) body->push_back(block.add("se", normed_squeeze_excite(hidden)));
  body->push_back(activation(Act::relu6));
  body->push_back(block.add("conv_pwl", named_conv_norm(hidden, out, {.act = Act::none})));
  const bool adds = stride == 1 && in <= out;
  return block.running([=](const torch::Tensor& x) mutable {
    const auto y = body(x);
    if (!adds) return y;
    return torch::cat({y.slice(1, 0, in) + x, y.slice(1, in)}, 1);
  });
}

class RexNet : public Layered<ByteImageModel> {
 public:
  /// `depths` is the number of blocks in each stage; the first two stages have no gates.
  RexNet(const std::vector<int64_t>& depths, int64_t side) : Layered(side, 32) {
    const std::vector<int64_t> strides = {1, 2, 2, 2, 1, 2};
    int64_t blocks = 0, in = 32;
    for (const auto depth : depths) blocks += depth;
    add("stem", named_conv_norm(3, in, {.kernel = 3, .stride = 2, .act = Act::silu}));
    Chain features;
    double channels = 16;
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      for (int64_t i = 0; i < depths[stage]; ++i) {
        const auto out = std::lrint(channels);  // a half goes to the even number, as in Python
        features->push_back(linear_bottleneck(in, out, i == 0 ? strides[stage] : 1, stage > 0, stage > 1));
        channels += 180.0 / static_cast<double>(blocks);
        in = out;
      }
    }
    features->push_back(named_conv_norm(in, 1280, {.act = Act::silu}));
    add("features", features);
    add("head", pooled_classifier(1280, 0.2));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

using List = std::vector<int64_t>;
TORCHSTONE_MODEL(rexnet_100, .family = "rexnet", .suites = {"timm"}, .train_batch = 256, .eval_batch = 256,
                 .parameters = 4'796'873,
                 .make = by_preset<RexNet>(std::tuple(List{1, 2, 2, 3, 3, 5}, 224),
                                           std::tuple(List{1, 1, 1, 1, 1, 2}, 64)));

}  // namespace
}  // namespace torchstone::rexnet
