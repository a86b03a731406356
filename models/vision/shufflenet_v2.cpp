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

struct ShuffleUnitImpl : nn::Module {
  ShuffleUnitImpl(int64_t in, int64_t out, int64_t stride) : splits(stride == 1) {
    const auto half = out / 2, side = splits ? half : in;
    const auto depthwise = [stride](int64_t channels) {
      return same_conv(channels, channels, {.kernel = 3, .stride = stride, .groups = channels});
    };
    Chain shortcut;
    if (!splits) {
      shortcut = Chain(depthwise(in), nn::BatchNorm2d(in), same_conv(in, half, {}), nn::BatchNorm2d(half), relu());
    }
    branch1 = register_module("branch1", shortcut);
    branch2 = register_module("branch2",
                              Chain(same_conv(side, half, {}), nn::BatchNorm2d(half), relu(), depthwise(half),
                                    nn::BatchNorm2d(half), same_conv(half, half, {}), nn::BatchNorm2d(half), relu()));
  }
  torch::Tensor forward(torch::Tensor x) {
    const auto halves = splits ? x.chunk(2, 1) : Tensors{x, x};
    return shuffle_channels(torch::cat({branch1(halves[0]), branch2(halves[1])}, 1), 2);
  }
  bool splits;
  Chain branch1{nullptr}, branch2{nullptr};
};
TORCH_MODULE(ShuffleUnit);

class ShuffleNetV2 : public ImageModel {
 public:
  /// `widths` has the widths of the stem, the three stages and the last convolution.
  ShuffleNetV2(const std::vector<int64_t>& depths, const std::vector<int64_t>& widths, int64_t side)
      : ImageModel(side, 32) {
    layers_.push_back(register_module("conv1", conv_norm(3, widths[0], {.kernel = 3, .stride = 2})));
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      Chain units;
      for (int64_t i = 0; i < depths[stage]; ++i) {
        units->push_back(ShuffleUnit(widths[i == 0 ? stage : stage + 1], widths[stage + 1], i == 0 ? 2 : 1));
      }
      layers_.push_back(register_module("stage" + std::to_string(stage + 2), units));
    }
    layers_.push_back(register_module("conv5", conv_norm(widths[3], widths[4])));
    fc_ = register_module("fc", nn::Linear(widths[4], 1000));
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = torch::max_pool2d(layers_[0](inputs.at(0)), 3, 2, 1);
    for (size_t i = 1; i < layers_.size(); ++i) x = layers_[i](x);
    return fc_(x.mean({2, 3}));
  }

 private:
  std::vector<Chain> layers_;
  nn::Linear fc_{nullptr};
};

using List = std::vector<int64_t>;
TORCHSTONE_MODEL(shufflenet_v2_x1_0, .family = "shufflenet_v2", .suites = {"torchbench"}, .train_batch = 128,
                 .eval_batch = 64, .parameters = 2'278'604,
                 .make = by_preset<ShuffleNetV2>(std::tuple(List{4, 8, 4}, List{24, 116, 232, 464, 1024}, 224),
                                                 std::tuple(List{2, 3, 2}, List{24, 48, 96, 192, 1024}, 64)));

}  // namespace
}  // namespace torchstone::shufflenet_v2
