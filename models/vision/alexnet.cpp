// AlexNet: five convolutions and three linear layers.
// Paper: Krizhevsky, "One weird trick for parallelizing convolutional neural networks", 2014.
// Original: torchvision.models.alexnet. Input [N, 3, 224, 224] → logits [N, 1000]; 61,100,840 parameters.
// mini: 64 pixels and a classifier of width 256 (the original's classifier has 58.6 million of its parameters).
#include "models/blocks/image_model.h"

namespace torchstone::alexnet {
namespace {

class AlexNet : public FeaturesAndClassifier {
 public:
  AlexNet(int64_t side, int64_t width) : FeaturesAndClassifier(side, 6) {
    add_parts(
        Chain(conv(3, 64, 11, {.stride = 4, .padding = 2}), relu(), max_pool(3, 2), conv(64, 192, 5, {.padding = 2}),
              relu(), max_pool(3, 2), conv(192, 384, 3, {.padding = 1}), relu(), conv(384, 256, 3, {.padding = 1}),
              relu(), conv(256, 256, 3, {.padding = 1}), relu(), max_pool(3, 2)),
        Chain(nn::Dropout(0.5), nn::Linear(256 * 6 * 6, width), relu(), nn::Dropout(0.5), nn::Linear(width, width),
              relu(), nn::Linear(width, 1000)));
  }
};

TORCHSTONE_MODEL(alexnet, .family = "alexnet", .suites = {"torchbench"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 61'100'840, .make = by_preset<AlexNet>(std::tuple(224, 4096), std::tuple(64, 256)));

}  // namespace
}  // namespace torchstone::alexnet
