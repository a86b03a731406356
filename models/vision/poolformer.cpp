// PoolFormer: a transformer's plan with an average over neighbours in the place of attention.
// Paper: Yu et al., "MetaFormer is actually what you need for vision", 2021. Original: timm's MetaFormer.
// Input [N, 3, 224, 224] → logits [N, 1000]; 56,172,520 parameters. mini: stages of one block, widths 16 to 128, 64
// pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::poolformer {
namespace {

nn::GroupNorm one_group(int64_t width) { return nn::GroupNorm(nn::GroupNormOptions(1, width)); }

/// x + scale * (mean of the neighbours - x), then x + scale * mlp(x), each of a normalised x.
Block pool_block(int64_t width) {
  Block block;
  auto norm1 = block.add("norm1", one_group(width)), norm2 = block.add("norm2", one_group(width));
  auto mlp = block.add(
      "mlp",
      chain({{"fc1", conv(width, 4 * width, 1)}, {"act", activation(Act::gelu)}, {"fc2", conv(4 * width, width, 1)}}));
  const auto scale = [&block, width](const std::string& name) {
    Block holder;
    const auto values = holder.add("scale", first_scale(width));
    block.add(name, holder);
    return values;
  };
  const auto first = scale("layer_scale1"), second = scale("layer_scale2");
  return block.running([=](torch::Tensor x) mutable {
    const auto y = norm1(x);
    const auto mean = torch::avg_pool2d(y, 3, 1, 1, /*ceil_mode=*/false, /*count_include_pad=*/false);
    x = x + first.view({-1, 1, 1}) * (mean - y);
    return x + second.view({-1, 1, 1}) * mlp(norm2(x));
  });
}

using List = std::vector<int64_t>;

class PoolFormer : public Layered<ByteImageModel> {
 public:
  PoolFormer(const List& depths, const List& widths, int64_t side) : Layered(side, 32) {
    add("stem", chain({{"conv", conv(3, widths[0], 7, {.stride = 4, .padding = 2})}}));
    Chain all;
    for (size_t i = 0; i < depths.size(); ++i) {
      Chain layers, stage;
      for (int64_t layer = 0; layer < depths[i]; ++layer) layers->push_back(pool_block(widths[i]));
      if (i > 0)
        stage->push_back("downsample",
                         chain({{"conv", conv(widths[i - 1], widths[i], 3, {.stride = 2, .padding = 1})}}));
      stage->push_back("blocks", layers);
      all->push_back(stage);
    }
    add("stages", all);
    add("head", normed_classifier(widths.back()));
    init_linears_normal(*this, 0.02);
  }
};

TORCHSTONE_MODEL(poolformer_m36, .family = "poolformer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 56'172'520,
                 .make = by_preset<PoolFormer>(std::tuple(List{6, 6, 18, 6}, List{96, 192, 384, 768}, 224),
                                               std::tuple(List{1, 1, 1, 1}, List{16, 32, 64, 128}, 64)));

}  // namespace
}  // namespace torchstone::poolformer
