// MNASNet: inverted residuals of kernels 3 and 5, found by a search for low latency on a phone.
// Paper: Tan et al., "MnasNet: platform-aware neural architecture search for mobile", 2018 (variant B1).
// Original: torchvision.models.mnasnet1_0. Input [N, 3, 224, 224] → logits [N, 1000]; 4,383,312 parameters.
// mini: three of the six stages, of 2, 2 and 1 blocks, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::mnasnet {
namespace {

constexpr double norm_momentum = 1 - 0.9997;  // TensorFlow's momentum 0.9997 is the complement

struct Stage {
  int64_t channels, kernel, stride, expansion, depth;
};

/// Appends convolution and BatchNorm, with or without ReLU, to `layers`.
void append(nn::SequentialImpl& layers, int64_t in, int64_t out, const ConvNorm& shape) {
  layers.push_back(same_conv(in, out, shape));
  layers.push_back(batch_norm(out, 1e-5, norm_momentum));
  if (shape.act != Act::none) layers.push_back(relu());
}

Skip inverted_residual(int64_t in, int64_t out, const Stage& stage, int64_t stride) {
  const auto hidden = in * stage.expansion;
  Chain layers;
  append(*layers, in, hidden, {});
  append(*layers, hidden, hidden, {.kernel = stage.kernel, .stride = stride, .groups = hidden});
  append(*layers, hidden, out, {.act = Act::none});
  return Skip("layers", layers, stride == 1 && in == out);
}

class MnasNet : public Layered<ImageModel> {
 public:
  MnasNet(const std::vector<Stage>& stages, int64_t side) : Layered(side, 32) {
    Chain layers;
    append(*layers, 3, 32, {.kernel = 3, .stride = 2});
    append(*layers, 32, 32, {.kernel = 3, .groups = 32});
    append(*layers, 32, 16, {.act = Act::none});
    int64_t in = 16;
    for (const auto& stage : stages) {
      Chain blocks;
      for (int64_t i = 0; i < stage.depth; ++i) {
        blocks->push_back(inverted_residual(in, stage.channels, stage, i == 0 ? stage.stride : 1));
        in = stage.channels;
      }
      layers->push_back(blocks);
    }
    append(*layers, in, 1280, {});
    add("layers", layers);
    add(nn::Functional([](const torch::Tensor& x) { return x.mean({2, 3}); }));
    add("classifier", Chain(nn::Dropout(0.2), nn::Linear(1280, 1000)));
    init_convolutions_he(*this);
    each_layer<nn::Linear>(*this, [](auto& layer) {
      nn::init::kaiming_uniform_(layer.weight, 0, torch::kFanOut, torch::kSigmoid);
      nn::init::zeros_(layer.bias);
    });
  }
};

const std::vector<Stage> full_stages = {{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3},  {80, 5, 2, 6, 3},
                                        {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1}};
const std::vector<Stage> mini_stages = {{24, 3, 2, 3, 2}, {40, 5, 2, 3, 2}, {80, 5, 2, 6, 1}};

TORCHSTONE_MODEL(mnasnet1_0, .family = "mnasnet", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 4'383'312,
                 .make = by_preset<MnasNet>(std::tuple(full_stages, 224), std::tuple(mini_stages, 64)));

}  // namespace
}  // namespace torchstone::mnasnet
