// SqueezeNet 1.1: fire modules (1x1 squeeze, then parallel 1x1 and 3x3 expansions), no normalisation.
// Paper: Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size", 2016.
// Original: torchvision.models.squeezenet1_1. Input [N, 3, 224, 224] → logits [N, 1000]; 1,235,496 parameters.
// mini: 64 pixels.
#include "models/blocks/image_model.h"

namespace torchstone::squeezenet {
namespace {

Block fire(int64_t in, int64_t squeezed, int64_t expanded) {
  Block block;
  auto squeeze = block.add("squeeze", conv(in, squeezed, 1));
  auto expand1x1 = block.add("expand1x1", conv(squeezed, expanded, 1));
  auto expand3x3 = block.add("expand3x3", conv(squeezed, expanded, 3, {.padding = 1}));
  return block.running([=](torch::Tensor x) mutable {
    x = squeeze(x).relu_();
    return torch::cat({expand1x1(x).relu_(), expand3x3(x).relu_()}, 1);
  });
}

nn::MaxPool2d pool() { return max_pool(3, 2, {.ceil = true}); }

class SqueezeNet : public Layered<ImageModel> {
 public:
  explicit SqueezeNet(int64_t side) : Layered(side, 32) {
    add("features", Chain(conv(3, 64, 3, {.stride = 2}), relu(), pool(), fire(64, 16, 64), fire(128, 16, 64), pool(),
                          fire(128, 32, 128), fire(256, 32, 128), pool(), fire(256, 48, 192), fire(384, 48, 192),
                          fire(384, 64, 256), fire(512, 64, 256)));
    auto last = conv(512, 1000, 1);
    add("classifier", Chain(nn::Dropout(0.5), last, relu(), nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1))));
    add(nn::Flatten());
    each_layer<nn::Conv2d>(*this, [](auto& layer) {
      nn::init::kaiming_uniform_(layer.weight);
      nn::init::zeros_(layer.bias);
    });
    nn::init::normal_(last->weight, 0, 0.01);
  }
};

TORCHSTONE_MODEL(squeezenet1_1, .family = "squeezenet", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 16,
                 .parameters = 1'235'496, .make = by_preset<SqueezeNet>(224, 64));

}  // namespace
}  // namespace torchstone::squeezenet
