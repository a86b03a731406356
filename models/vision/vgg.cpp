// VGG: stacks of 3x3 convolutions and three linear layers.
// Paper: Simonyan, Zisserman, "Very deep convolutional networks for large-scale image recognition", 2014.
// Original: torchvision.models.vgg11, vgg16. Input [N, 3, 224, 224] → logits [N, 1000]; 132,863,336 and 138,357,544
// parameters.
// mini: six narrow convolutions, 64 pixels and a classifier of width 256 instead of 4096.
#include "models/blocks/image_model.h"

namespace torchstone::vgg {
namespace {

constexpr int64_t pool_marker = 0;  // in a list of widths: a max-pool that halves the image

class Vgg : public FeaturesAndClassifier {
 public:
  Vgg(const std::vector<int64_t>& widths, int64_t side, int64_t classifier_width) : FeaturesAndClassifier(side, 7) {
    Chain features;
    int64_t channels = 3;
    for (const auto width : widths) {
      if (width == pool_marker) {
        features->push_back(max_pool(2, 2));
      } else {
        features->push_back(conv(channels, width, 3, {.padding = 1}));
        features->push_back(relu());
        channels = width;
      }
    }
    const auto wide = classifier_width;
    add_parts(features, Chain(nn::Linear(channels * 7 * 7, wide), relu(), nn::Dropout(0.5), nn::Linear(wide, wide),
                              relu(), nn::Dropout(0.5), nn::Linear(wide, 1000)));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

const std::vector<int64_t> vgg11_widths = {64,  pool_marker, 128,         pool_marker, 256, 256,        pool_marker,
                                           512, 512,         pool_marker, 512,         512, pool_marker};
const std::vector<int64_t> vgg16_widths = {64,  64,          pool_marker, 128,         128, pool_marker,
                                           256, 256,         256,         pool_marker, 512, 512,
                                           512, pool_marker, 512,         512,         512, pool_marker};
const std::vector<int64_t> mini_widths = {16, pool_marker, 32, pool_marker, 64, 64, pool_marker, 128, 128, pool_marker};

auto make(const std::vector<int64_t>& full) {
  return by_preset<Vgg>(std::tuple(full, 224, 4096), std::tuple(mini_widths, 64, 256));
}

TORCHSTONE_MODEL(vgg11, .family = "vgg", .suites = {"torchvision"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 132'863'336, .make = make(vgg11_widths));
TORCHSTONE_MODEL(vgg16, .family = "vgg", .suites = {"torchbench"}, .train_batch = 64, .eval_batch = 4,
                 .parameters = 138'357'544, .make = make(vgg16_widths));

}  // namespace
}  // namespace torchstone::vgg
