// GoogLeNet: inception blocks of four branches. In training, two auxiliary classifiers add outputs.
// Paper: Szegedy et al., "Going deeper with convolutions", 2014. Original: torchvision.models.googlenet with its
// auxiliary classifiers. Input [N, 3, 224, 224] → logits [N, 1000], in training a tuple with the auxiliary logits, the
// later ones first; 13,004,888 parameters. mini: without the blocks 4b, 4c and 5a, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::googlenet {
namespace {

Chain conv_bn(int64_t in, int64_t out, int64_t kernel = 1, int64_t stride = 1) {
  return named_conv_norm(in, out, {.kernel = kernel, .stride = stride, .eps = 1e-3});
}

/// Channels of the branches: the 1x1, before and after the 3x3, before and after the "5x5" (which has kernel 3 in
/// torchvision), after the pooling.
struct Widths {
  int64_t in, alone, to_second, second, to_third, third, pooled;
};

Branches inception(const Widths& w) {
  Branches block;
  const auto add = [&](const std::string& name, const Chain& way) {
    block->ways.push_back({{block->register_module(name, way)}});
  };
  add("branch1", conv_bn(w.in, w.alone));
  add("branch2", Chain(conv_bn(w.in, w.to_second), conv_bn(w.to_second, w.second, 3)));
  add("branch3", Chain(conv_bn(w.in, w.to_third), conv_bn(w.to_third, w.third, 3)));
  add("branch4", Chain(max_pool(3, 1, {.padding = 1, .ceil = true}), conv_bn(w.in, w.pooled)));
  return block;
}

Block auxiliary(int64_t in) {
  Block block;
  auto conv = block.add("conv", conv_bn(in, 128));
  auto fc1 = block.add("fc1", nn::Linear(2048, 1024)), fc2 = block.add("fc2", nn::Linear(1024, 1000));
  auto dropout = block.add("dropout", nn::Dropout(0.7));
  return block.running([=](torch::Tensor x) mutable {
    return fc2(dropout(torch::relu(fc1(conv(torch::adaptive_avg_pool2d(x, {4, 4})).flatten(1)))));
  });
}

class GoogLeNet : public ImageModel {
 public:
  explicit GoogLeNet(bool full) : ImageModel(full ? 224 : 64, 32) {
    const auto pool = [](int64_t kernel) { return max_pool(kernel, 2, {.ceil = true}); };
    add(start_, "conv1", conv_bn(3, 64, 7, 2));
    start_->push_back(pool(3));
    add(start_, "conv2", conv_bn(64, 64));
    add(start_, "conv3", conv_bn(64, 192, 3));
    start_->push_back(pool(3));
    add(start_, "inception3a", inception({192, 64, 96, 128, 16, 32, 32}));
    add(start_, "inception3b", inception({256, 128, 128, 192, 32, 96, 64}));
    start_->push_back(pool(3));
    add(start_, "inception4a", inception({480, 192, 96, 208, 16, 48, 64}));
    if (full) {
      add(middle_, "inception4b", inception({512, 160, 112, 224, 24, 64, 64}));
      add(middle_, "inception4c", inception({512, 128, 128, 256, 24, 64, 64}));
    }
    add(middle_, "inception4d", inception({512, 112, 144, 288, 32, 64, 64}));
    add(end_, "inception4e", inception({528, 256, 160, 320, 32, 128, 128}));
    end_->push_back(pool(2));
    if (full) add(end_, "inception5a", inception({832, 256, 160, 320, 32, 128, 128}));
    add(end_, "inception5b", inception({832, 384, 192, 384, 48, 128, 128}));
    aux1_ = register_module("aux1", auxiliary(512));
    aux2_ = register_module("aux2", auxiliary(528));
    dropout_ = register_module("dropout", nn::Dropout(0.2));
    fc_ = register_module("fc", nn::Linear(1024, 1000));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto first = start_(inputs.at(0)), second = middle_(first);
    const auto pooled = torch::adaptive_avg_pool2d(end_(second), {1, 1}).flatten(1);
    const auto logits = fc_(dropout_(pooled));
    if (!is_training()) return logits;
    return std::make_tuple(logits, aux2_(second), aux1_(first));
  }

 private:
  template <class Layer>
  void add(Chain& part, const std::string& name, const Layer& layer) {
    part->push_back(register_module(name, layer));
  }

  Chain start_, middle_, end_;
  Block aux1_{nullptr}, aux2_{nullptr};
  nn::Dropout dropout_{nullptr};
  nn::Linear fc_{nullptr};
};

TORCHSTONE_MODEL(googlenet, .family = "googlenet", .suites = {"torchvision"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 13'004'888, .make = by_preset<GoogLeNet>(/*full=*/true, false));

}  // namespace
}  // namespace torchstone::googlenet
