// MobileNetV2: inverted residuals (expand, depthwise, linear projection) with ReLU6.
// Paper: Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", 2018.
// Original: torchvision.models.mobilenet_v2. Input [N, 3, 224, 224] → logits [N, 1000]; 3,504,872 parameters.
// mini: half the width, four of the seven stages, 64 pixels.
#include <torchstone/model.h>

#include "models/blocks/containers.h"
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"
#include "models/blocks/basic_layers.h"

namespace torchstone::mobilenet_v2 {
namespace {

Skip inverted_residual(int64_t in, int64_t out, int64_t stride, int64_t expansion) {
  const auto hidden = in * expansion;
  Chain layers;
  if (expansion != 1) layers->push_back(conv_norm(in, hidden, {.act = Act::relu6}));
  layers->push_back(conv_norm(hidden, hidden, {.kernel = 3, .stride = stride, .groups = hidden, .act = Act::relu6}));
  layers->push_back(conv(hidden, out, 1, {.bias = false}));
  layers->push_back(nn::BatchNorm2d(out));
  return Skip("conv", layers, stride == 1 && in == out);
}

struct Stage {
  int64_t expansion, channels, depth, stride;
};

class MobileNetV2 : public FeaturesAndClassifier {
 public:
  MobileNetV2(const std::vector<Stage>& stages, double width, int64_t side) : FeaturesAndClassifier(side) {
    nn::Sequential features;
    const auto last = round_channels(1280 * std::max(1.0, width));
    auto in = round_channels(32 * width);
    features->push_back(conv_norm(3, in, {.kernel = 3, .stride = 2, .act = Act::relu6}));
    for (const auto& stage : stages) {
      const auto out = round_channels(static_cast<double>(stage.channels) * width);
      for (int64_t i = 0; i < stage.depth; ++i) {
        features->push_back(inverted_residual(in, out, i == 0 ? stage.stride : 1, stage.expansion));
        in = out;
      }
    }
    features->push_back(conv_norm(in, last, {.act = Act::relu6}));
    register_parts(features, nn::Sequential(nn::Dropout(0.2), nn::Linear(last, 1000)));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

const std::vector<Stage> full_stages = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                        {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
const std::vector<Stage> mini_stages = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 2, 2}, {6, 64, 1, 2}};

TORCHSTONE_MODEL(
    mobilenet_v2, .family = "mobilenet_v2", .suites = {"torchbench"}, .train_batch = 96, .eval_batch = 16,
    .parameters = 3'504'872, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      if (options.preset == Preset::full) return std::make_shared<MobileNetV2>(full_stages, 1.0, 224);
      return std::make_shared<MobileNetV2>(mini_stages, 0.5, 64);
    });

}  // namespace
}  // namespace torchstone::mobilenet_v2
