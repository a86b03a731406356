// ShuffleNet V2: half of the channels skip a block, then the halves are shuffled.
// Paper: Ma, Zhang, Zheng, Sun, "ShuffleNet V2: practical guidelines for efficient CNN architecture design", 2018.
// Original: torchvision.models.shufflenet_v2_x1_0. Input [N, 3, 224, 224] → logits [N, 1000]; 2,278,604 parameters.
// mini: the widths of x0_5, stages of 2, 3 and 2 blocks, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::shufflenet_v2 {
namespace {

/// Interleaves the channels of the groups: a0 a1 … b0 b1 … → a0 b0 a1 b1 ….
torch::Tensor shuffle_channels(const torch::Tensor& x, int64_t groups) {
  return x.view({x.size(0), groups, x.size(1) / groups, x.size(2), x.size(3)})
      .transpose(1, 2)
      .contiguous()
      .view(x.sizes());
}

Block shuffle_unit(int64_t in, int64_t out, int64_t stride) {
  const bool splits = stride == 1;
  const auto half = out / 2, side = splits ? half : in;
  const auto depthwise = [stride](int64_t channels) {
    return same_conv(channels, channels, {.kernel = 3, .stride = stride, .groups = channels});
  };
  Block block;
  Chain shortcut;
  if (!splits)
    shortcut = Chain(depthwise(in), nn::BatchNorm2d(in), same_conv(in, half, {}), nn::BatchNorm2d(half), relu());
  auto branch1 = block.add("branch1", shortcut);
  auto branch2 =
      block.add("branch2", Chain(same_conv(side, half, {}), nn::BatchNorm2d(half), relu(), depthwise(half),
                                 nn::BatchNorm2d(half), same_conv(half, half, {}), nn::BatchNorm2d(half), relu()));
  return block.running([=](torch::Tensor x) mutable {
    const auto halves = splits ? x.chunk(2, 1) : Tensors{x, x};
    return shuffle_channels(torch::cat({branch1(halves[0]), branch2(halves[1])}, 1), 2);
  });
}

class ShuffleNetV2 : public Layered<ImageModel> {
 public:
  /// `widths` has the widths of the stem, the three stages and the last convolution.
  ShuffleNetV2(const std::vector<int64_t>& depths, const std::vector<int64_t>& widths, int64_t side)
      : Layered(side, 32) {
    add("conv1", conv_norm(3, widths[0], {.kernel = 3, .stride = 2}));
    add(max_pool(3, 2, {.padding = 1}));
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      Chain units;
      for (int64_t i = 0; i < depths[stage]; ++i)
        units->push_back(shuffle_unit(widths[i == 0 ? stage : stage + 1], widths[stage + 1], i == 0 ? 2 : 1));
      add("stage" + std::to_string(stage + 2), units);
    }
    add("conv5", conv_norm(widths[3], widths[4]));
    add(nn::Functional([](const torch::Tensor& x) { return x.mean({2, 3}); }));
    add("fc", nn::Linear(widths[4], 1000));
  }
};

using List = std::vector<int64_t>;
TORCHSTONE_MODEL(shufflenet_v2_x1_0, .family = "shufflenet_v2", .suites = {"torchbench"}, .train_batch = 128,
                 .eval_batch = 64, .parameters = 2'278'604,
                 .make = by_preset<ShuffleNetV2>(std::tuple(List{4, 8, 4}, List{24, 116, 232, 464, 1024}, 224),
                                                 std::tuple(List{2, 3, 2}, List{24, 48, 96, 192, 1024}, 64)));

}  // namespace
}  // namespace torchstone::shufflenet_v2
