// RegNet: residual stages whose widths and depths follow one rule, with grouped convolutions and a gate.
// Paper: Radosavovic, Kosaraju, Girshick, He, Dollár, "Designing network design spaces", 2020. Original: timm's RegNet
// as regnety_002. Input [N, 3, 224, 224] → logits [N, 1000]; 3,162,996 parameters.
// mini: stages of 1 block, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::regnet {
namespace {

using List = std::vector<int64_t>;
constexpr int64_t group_width = 8, stem_width = 32;
const List stage_widths = {24, 56, 152, 368};

Block reg_net_block(int64_t in, int64_t out, int64_t stride) {
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

class RegNet : public Layered<ByteImageModel> {
 public:
  RegNet(const List& depths, int64_t side) : Layered(side, 32) {
    add("stem", named_conv_norm(3, stem_width, {.kernel = 3, .stride = 2}));
    int64_t in = stem_width;
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      Chain blocks;
      for (int64_t i = 0; i < depths[stage]; ++i) {
        blocks->push_back("b" + std::to_string(i + 1), reg_net_block(in, stage_widths[stage], i == 0 ? 2 : 1));
        in = stage_widths[stage];
      }
      add("s" + std::to_string(stage + 1), blocks);
    }
    add("head", pooled_classifier(in));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

TORCHSTONE_MODEL(regnety_002, .family = "regnet", .suites = {"timm"}, .train_batch = 1024, .eval_batch = 1024,
                 .parameters = 3'162'996,
                 .make = by_preset<RegNet>(std::tuple(List{1, 1, 4, 7}, 224), std::tuple(List{1, 1, 1, 1}, 64)));

}  // namespace
}  // namespace torchstone::regnet
