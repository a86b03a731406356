// RegNet: residual stages whose widths and depths follow one rule, with grouped convolutions and a gate.
// Paper: Radosavovic, Kosaraju, Girshick, He, Dollár, "Designing network design spaces", 2020. Original: timm's RegNet
// as regnety_002, and as regnety_120, which torchbench.py runs as timm_regnet. Input [N, 3, 224, 224] → logits [N,
// 1000]; 3,162,996 and 51,822,544 (timm_regnet) parameters.
// mini: stages of 1 block, 64 pixels.
#include <string>
#include <vector>

#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::regnet {
namespace {

using List = std::vector<int64_t>;
constexpr int64_t stem_width = 32;

struct RegNetShape {
  List widths, depths;  ///< of the stages
  int64_t group_width, side;
};

Block reg_net_block(int64_t in, int64_t out, int64_t stride, int64_t group_width) {
  Block block;
  const ConvNorm grouped{.kernel = 3, .stride = stride, .groups = out / group_width};
  auto conv1 = block.add("conv1", named_conv_norm(in, out));
  auto conv2 = block.add("conv2", named_conv_norm(out, out, grouped));
  auto se = block.add("se", squeeze_excite({.channels = out, .squeezed = (in + 2) / 4}));
  auto conv3 = block.add("conv3", named_conv_norm(out, out, {.act = Act::none}));
  Chain downsample;
  if (stride != 1 || in != out)
    downsample = block.add("downsample", named_conv_norm(in, out, {.stride = stride, .act = Act::none}));
  return block.running(
      [=](torch::Tensor x) mutable { return torch::relu(conv3(se(conv2(conv1(x)))) + downsample(x)); });
}

/// `Base` has the images of upstream's suite.
template <class Base>
class RegNet : public Layered<Base> {
 public:
  explicit RegNet(const RegNetShape& shape) : Layered<Base>(shape.side, 32) {
    this->add("stem", named_conv_norm(3, stem_width, {.kernel = 3, .stride = 2}));
    int64_t in = stem_width;
    for (size_t stage = 0; stage < shape.depths.size(); ++stage) {
      const auto out = shape.widths[stage];
      Chain blocks;
      for (int64_t i = 0; i < shape.depths[stage]; ++i) {
        blocks->push_back("b" + std::to_string(i + 1), reg_net_block(in, out, i == 0 ? 2 : 1, shape.group_width));
        in = out;
      }
      this->add("s" + std::to_string(stage + 1), blocks);
    }
    this->add("head", pooled_classifier(in));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

TORCHSTONE_MODEL(regnety_002, .family = "regnet", .suites = {"timm"}, .train_batch = 1024, .eval_batch = 1024,
                 .parameters = 3'162'996,
                 .make = by_preset<RegNet<ByteImageModel>>(RegNetShape{{24, 56, 152, 368}, {1, 1, 4, 7}, 8, 224},
                                                           RegNetShape{{24, 56, 152, 368}, {1, 1, 1, 1}, 8, 64}));
TORCHSTONE_MODEL(timm_regnet, .family = "regnet", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 51'822'544,
                 .make = by_preset<RegNet<ImageModel>>(RegNetShape{{224, 448, 896, 2240}, {2, 5, 11, 1}, 112, 224},
                                                       RegNetShape{{56, 84, 140, 224}, {1, 1, 1, 1}, 28, 64}));

}  // namespace
}  // namespace torchstone::regnet
