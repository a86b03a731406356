// The actor of LearningToPaint: a ResNet-18 that chooses five strokes from the canvas and the picture to paint.
// Paper: Huang, Heng, Zhou, "Learning to paint with model-based deep reinforcement learning", 2019. Original:
// pytorch/benchmark LearningToPaint. Input [N, 9, 128, 128]: canvas and picture (3 channels each, 0 to 1), the step as
// a fraction of 40, and both coordinates → strokes [N, 65]; 11,209,857 parameters. mini: stages of 1 block.
#include <string>
#include <vector>

#include "models/blocks/conv_blocks.h"

namespace torchstone::learning_to_paint {
namespace {

constexpr int64_t side = 128, stroke_values = 65;

class Actor : public Layered<Model> {
 public:
  explicit Actor(int64_t depth) {
    int64_t in = 64;
    add("conv1", conv3x3(9, in, 2));
    add("bn1", nn::BatchNorm2d(in));
    add(activation(Act::relu));
    for (int64_t stage = 0; stage < 4; ++stage) {
      const int64_t width = 64 << stage;
      Chain layer;
      for (int64_t i = 0; i < depth; ++i, in = width)
        layer->push_back(basic_block(in, width, i == 0 ? 2 : 1, {}, "shortcut"));
      add("layer" + std::to_string(stage + 1), layer);
    }
    add(nn::Functional([](const torch::Tensor& x) { return torch::avg_pool2d(x, 4).flatten(1); }));
    add("fc", nn::Linear(in, stroke_values));
    add(activation(Act::sigmoid));
  }
  Tensors example_inputs(const ModelOptions& options) const override {
    const auto images = torch::randint(256, {options.batch_size, 6, side, side}, torch::kFloat32) / 255;
    const auto step = torch::full({options.batch_size, 1, side, side}, 1.0 / 40);
    const auto axis = torch::arange(side, torch::kFloat32) / static_cast<double>(side - 1);
    const auto places = torch::stack(torch::meshgrid({axis, axis}, "ij")).unsqueeze(0);
    return {torch::cat({images, step, places.expand({options.batch_size, -1, -1, -1})}, 1)};
  }
};

TORCHSTONE_MODEL(LearningToPaint, .family = "learning_to_paint", .suites = {"torchbench"}, .train_batch = 96,
                 .eval_batch = 96, .parameters = 11'209'857, .make = by_preset<Actor>(2, 1));

}  // namespace
}  // namespace torchstone::learning_to_paint
