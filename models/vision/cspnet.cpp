// CSPDarkNet: DarkNet's residual stages, each on half of the channels; the other half goes around the stage.
// Papers: Wang et al., "CSPNet: a new backbone that can enhance learning capability of CNN", 2019; Bochkovskiy et al.,
// "YOLOv4", 2020. Original: timm's CspNet. Input [N, 3, 256, 256] → logits [N, 1000]; 27,642,184 parameters. mini:
// three stages of widths 16 to 64, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::cspnet {
namespace {

struct Stage {
  int64_t depth, out;
};

Chain leaky(int64_t in, int64_t out, int64_t kernel = 1, int64_t stride = 1) {
  return named_conv_norm(in, out, {.kernel = kernel, .stride = stride, .act = Act::leaky_relu});
}

Block dark_block(int64_t width, int64_t hidden) {
  Block block;
  auto conv1 = block.add("conv1", leaky(width, hidden)), conv2 = block.add("conv2", leaky(hidden, width, 3));
  return block.running([=](const torch::Tensor& x) mutable { return conv2(conv1(x)) + x; });
}

/// The first stage keeps the whole width in both halves, and its blocks narrow it.
Block cross_stage(int64_t in, const Stage& stage, bool is_first) {
  const auto half = is_first ? stage.out : stage.out / 2;
  Block block;
  auto down = block.add("conv_down", leaky(in, stage.out, 3, 2));
  auto expand = block.add("conv_exp", leaky(stage.out, 2 * half));
  Chain blocks;
  for (int64_t i = 0; i < stage.depth; ++i) blocks->push_back(dark_block(half, is_first ? half / 2 : half));
  block.add("blocks", blocks);
  auto after_blocks = block.add("conv_transition_b", leaky(half, half));
  auto join = block.add("conv_transition", leaky(2 * half, stage.out));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto halves = expand(down(x)).split(half, 1);
    return join(torch::cat({halves[0], after_blocks(blocks(halves[1])).contiguous()}, 1));
  });
}

class CspDarkNet : public Layered<ByteImageModel> {
 public:
  CspDarkNet(const std::vector<Stage>& shapes, int64_t side) : Layered(side, 32) {
    int64_t channels = 32;
    add("stem", chain({{"conv1", leaky(3, channels, 3)}}));
    Chain stages;
    for (size_t i = 0; i < shapes.size(); ++i) {
      stages->push_back(cross_stage(channels, shapes[i], i == 0));
      channels = shapes[i].out;
    }
    add("stages", stages);
    add("head", pooled_classifier(channels));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }
};

using Stages = std::vector<Stage>;
TORCHSTONE_MODEL(cspdarknet53, .family = "cspnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 27'642'184,
                 .make = by_preset<CspDarkNet>(std::tuple(Stages{{1, 64}, {2, 128}, {8, 256}, {8, 512}, {4, 1024}},
                                                          256),
                                               std::tuple(Stages{{1, 16}, {2, 32}, {1, 64}}, 64)));

}  // namespace
}  // namespace torchstone::cspnet
