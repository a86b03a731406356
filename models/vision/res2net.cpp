// Res2Net: bottlenecks whose 3x3 convolution is split into a series of narrow ones, each of which also gets the result
// of the one before. Paper: Gao et al., "Res2Net: a new multi-scale backbone architecture", 2019. Original: timm's
// res2net.py. Input [N, 3, 224, 224] → logits [N, 1000]; 25,059,816 (res2net50_14w_8s), 45,206,688
// (res2net101_26w_4s) and 24,671,464 (res2next50) parameters. mini: 64 pixels and stages of 2, 1, 1, 1 blocks.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::res2net {
namespace {

struct Scales {
  int64_t count = 4, width = 26;  ///< parts, and their channels in a stage of 64
  int64_t groups = 1;             ///< of their convolutions
};

Block scaled_bottleneck(int64_t in, int64_t planes, int64_t stride, const Scales& scales) {
  const auto width = planes * scales.width / 64 * scales.groups, all = width * scales.count;
  const auto out = planes * bottleneck_expansion;
  Block block;
  auto shortcut = add_shortcut(block, in, out, stride);
  const bool is_first = stride > 1 || in != out;  // of its stage: its parts do not depend on each other
  auto conv1 = block.add("conv1", conv1x1(in, all));
  auto bn1 = block.add("bn1", nn::BatchNorm2d(all));
  std::vector<nn::Conv2d> convs;
  std::vector<nn::BatchNorm2d> bns;
  for (int64_t i = 1; i < scales.count; ++i) {
    convs.push_back(conv3x3(width, width, stride, scales.groups));
    bns.push_back(nn::BatchNorm2d(width));
  }
  block.add("convs", list_of(convs));
  block.add("bns", list_of(bns));
  auto conv3 = block.add("conv3", conv1x1(all, out));
  auto bn3 = block.add("bn3", nn::BatchNorm2d(out));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = bn1(conv1(x)).relu_().split(width, 1);
    Tensors done;
    for (size_t i = 0; i < convs.size(); ++i) {
      const auto part = is_first || i == 0 ? parts[i] : done.back() + parts[i];
      done.push_back(bns[i](convs[i](part)).relu_());
    }
    done.push_back(is_first ? torch::avg_pool2d(parts.back(), 3, stride, 1) : parts.back());
    auto y = bn3(conv3(torch::cat(done, 1)));
    y += shortcut(x);
    return y.relu_();
  });
}

class Res2Net : public ResidualNet<ByteImageModel> {
 public:
  Res2Net(const std::vector<int64_t>& depths, int64_t side, const Scales& scales)
      : ResidualNet(side, depths, bottleneck_expansion, [&](int64_t in, int64_t width, int64_t stride) {
          return scaled_bottleneck(in, width, stride, scales);
        }) {}
};

auto make(const std::vector<int64_t>& depths, const Scales& scales) {
  return by_preset<Res2Net>(std::tuple(depths, 224, scales), std::tuple(std::vector<int64_t>{2, 1, 1, 1}, 64, scales));
}

TORCHSTONE_MODEL(res2net50_14w_8s, .family = "res2net", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 25'059'816, .make = make({3, 4, 6, 3}, {.count = 8, .width = 14}));
TORCHSTONE_MODEL(res2net101_26w_4s, .family = "res2net", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 45'206'688, .make = make({3, 4, 23, 3}, {}));
TORCHSTONE_MODEL(res2next50, .family = "res2net", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 24'671'464, .make = make({3, 4, 6, 3}, {.width = 4, .groups = 8}));

}  // namespace
}  // namespace torchstone::res2net
