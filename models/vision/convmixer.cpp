// ConvMixer: patches, then depthwise convolutions with a residual alternating with 1x1 convolutions.
// Paper: Trockman, Kolter, "Patches are all you need?", 2022.
// Original: timm's ConvMixer. Input [N, 3, 224, 224] → logits [N, 1000]; 21,110,248 (convmixer_768_32) and 24,383,464
// (convmixer_1024_20_ks9_p14) parameters. A compiler slowed down only two models in timm's tables, one of
// which is the second. mini: 2 blocks of width 96, 56 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::convmixer {
namespace {

struct ConvMixerShape {
  int64_t width, depth, kernel, patch;
  Act act;
  int64_t side = 224;
};

class ConvMixer : public Layered<ByteImageModel> {
 public:
  explicit ConvMixer(const ConvMixerShape& shape) : Layered(shape.side, 14) {
    const auto width = shape.width;
    add("stem",
        Chain(conv(3, width, shape.patch, {.stride = shape.patch}), activation(shape.act), nn::BatchNorm2d(width)));
    Chain blocks;
    for (int64_t i = 0; i < shape.depth; ++i) {
      const ConvShape depthwise{.padding = shape.kernel / 2, .groups = width};
      blocks->push_back(Chain(
          Skip("fn", Chain(conv(width, width, shape.kernel, depthwise), activation(shape.act), nn::BatchNorm2d(width))),
          conv(width, width, 1), activation(shape.act), nn::BatchNorm2d(width)));
    }
    add("blocks", blocks);
    add(average_pool());
    add("head", nn::Linear(width, 1000));
  }
};

auto make(const ConvMixerShape& full) {
  auto mini = full;
  mini.width = 96;
  mini.depth = 2;
  mini.side = 56;
  return by_preset<ConvMixer>(full, mini);
}

TORCHSTONE_MODEL(convmixer_768_32, .family = "convmixer", .suites = {"timm"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 21'110'248,
                 .make = make({.width = 768, .depth = 32, .kernel = 7, .patch = 7, .act = Act::relu}));
TORCHSTONE_MODEL(convmixer_1024_20_ks9_p14, .family = "convmixer", .suites = {"timm"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 24'383'464,
                 .make = make({.width = 1024, .depth = 20, .kernel = 9, .patch = 14, .act = Act::gelu}));

}  // namespace
}  // namespace torchstone::convmixer
