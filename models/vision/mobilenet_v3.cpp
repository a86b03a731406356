// MobileNetV3: inverted residuals with squeeze-and-excitation and hard-swish.
// Paper: Howard et al., "Searching for MobileNetV3", 2019.
// Original: torchvision.models.mobilenet_v3_large, mobilenet_v3_small. Input [N, 3, 224, 224] → logits [N, 1000];
// 5,483,032 and 2,542,856 parameters. mini: four blocks of each, 64 pixels.
#include <torchstone/model.h>

#include "models/blocks/image_model.h"
#include "models/blocks/basic_layers.h"
#include "models/blocks/conv_blocks.h"

namespace torchstone::mobilenet_v3 {
namespace {

constexpr auto RE = Act::relu, HS = Act::hardswish;

class MobileNetV3 : public FeaturesAndClassifier {
 public:
  MobileNetV3(const std::vector<MobileBottleneck>& bottlenecks, int64_t last, int64_t side)
      : FeaturesAndClassifier(side) {
    const auto wide = 6 * bottlenecks.back().out;
    register_parts(mobile_features(bottlenecks),
                   nn::Sequential(nn::Linear(wide, last), activation(HS), nn::Dropout(0.2), nn::Linear(last, 1000)));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

const std::vector<MobileBottleneck> small_stages = {
    {16, 3, 16, 16, true, RE, 2},  {16, 3, 72, 24, false, RE, 2}, {24, 3, 88, 24, false, RE, 1},
    {24, 5, 96, 40, true, HS, 2},  {40, 5, 240, 40, true, HS, 1}, {40, 5, 240, 40, true, HS, 1},
    {40, 5, 120, 48, true, HS, 1}, {48, 5, 144, 48, true, HS, 1}, {48, 5, 288, 96, true, HS, 2},
    {96, 5, 576, 96, true, HS, 1}, {96, 5, 576, 96, true, HS, 1}};
const std::vector<MobileBottleneck> mini_stages = {{16, 3, 16, 16, false, RE, 1},
                                                   {16, 3, 64, 24, false, RE, 2},
                                                   {24, 5, 72, 40, true, HS, 2},
                                                   {40, 5, 120, 40, true, HS, 1}};

std::shared_ptr<Model> make(const ModelOptions& options, const std::vector<MobileBottleneck>& full, int64_t last) {
  if (options.preset == Preset::full) return std::make_shared<MobileNetV3>(full, last, 224);
  return std::make_shared<MobileNetV3>(mini_stages, 256, 64);
}

TORCHSTONE_MODEL(
    mobilenet_v3_large, .family = "mobilenet_v3", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 5'483'032, .make = [](const ModelOptions& options) { return make(options, mobile_large(), 1280); });
TORCHSTONE_MODEL(
    mobilenet_v3_small, .family = "mobilenet_v3", .suites = {"torchvision"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 2'542'856, .make = [](const ModelOptions& options) { return make(options, small_stages, 1024); });

}  // namespace
}  // namespace torchstone::mobilenet_v3
