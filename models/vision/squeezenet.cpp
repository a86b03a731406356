// SqueezeNet 1.1: fire modules (1x1 squeeze, then parallel 1x1 and 3x3 expansions), no normalisation.
// Paper: Iandola et al., "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size", 2016.
// Original: torchvision.models.squeezenet1_1. Input [N, 3, 224, 224] → logits [N, 1000]; 1,235,496 parameters.
// mini: 64 pixels.
#include "models/blocks/image_model.h"

namespace torchstone::squeezenet {
namespace {

struct FireImpl : nn::Module {
  FireImpl(int64_t in, int64_t squeezed, int64_t expanded) {
    squeeze = register_module("squeeze", conv(in, squeezed, 1));
    expand1x1 = register_module("expand1x1", conv(squeezed, expanded, 1));
    expand3x3 = register_module("expand3x3", conv(squeezed, expanded, 3, {.padding = 1}));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = squeeze(x).relu_();
    return torch::cat({expand1x1(x).relu_(), expand3x3(x).relu_()}, 1);
  }
  nn::Conv2d squeeze{nullptr}, expand1x1{nullptr}, expand3x3{nullptr};
};
TORCH_MODULE(Fire);

nn::MaxPool2d pool() { return max_pool(3, 2, {.ceil = true}); }

class SqueezeNet : public ImageModel {
 public:
  explicit SqueezeNet(int64_t side) : ImageModel(side, 32) {
    features_ = register_module(
        "features", nn::Sequential(conv(3, 64, 3, {.stride = 2}), relu(), pool(), Fire(64, 16, 64), Fire(128, 16, 64),
                                   pool(), Fire(128, 32, 128), Fire(256, 32, 128), pool(), Fire(256, 48, 192),
                                   Fire(384, 48, 192), Fire(384, 64, 256), Fire(512, 64, 256)));
    auto last = conv(512, 1000, 1);
    classifier_ = register_module("classifier", nn::Sequential(nn::Dropout(0.5), last, relu(),
                                                               nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1))));
    each_layer<nn::Conv2d>(*this, [](auto& layer) {
      nn::init::kaiming_uniform_(layer.weight);
      nn::init::zeros_(layer.bias);
    });
    nn::init::normal_(last->weight, 0, 0.01);
  }

  c10::IValue forward(const Tensors& inputs) override {
    return classifier_->forward(features_->forward(inputs.at(0))).flatten(1);
  }

 private:
  nn::Sequential features_{nullptr}, classifier_{nullptr};
};

TORCHSTONE_MODEL(squeezenet1_1, .family = "squeezenet", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 16,
                 .parameters = 1'235'496, .make = by_preset<SqueezeNet>(224, 64));

}  // namespace
}  // namespace torchstone::squeezenet
