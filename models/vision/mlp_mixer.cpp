// Networks without attention that mix tokens by linear layers: MLP-Mixer, gMLP and ResMLP.
// Papers: Tolstikhin et al., "MLP-Mixer: an all-MLP architecture for vision", 2021; Liu et al., "Pay attention to
// MLPs", 2021; Touvron et al., "ResMLP: feedforward networks for image classification with data-efficient training",
// 2021; gmixer_24_224 is timm's own. Original: timm's MlpMixer. Input [N, 3, 224, 224] → logits [N, 1000]; 18,528,264
// (mixer_s16_224), 59,880,472 (mixer_b16_224), 19,422,656 (gmlp_s16_224), 15,350,872 (resmlp_12_224) and 24,721,096
// (gmixer_24_224) parameters. mini: 2 blocks of width 64, 64 pixels.
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::mlp_mixer {
namespace {

/// x * alpha + beta, which replaces a norm in ResMLP.
Block affine(int64_t width) {
  Block block;
  const auto alpha = block.add("alpha", torch::ones({1, 1, width}));
  const auto beta = block.add("beta", torch::zeros({1, 1, width}));
  return block.running([=](const torch::Tensor& x) { return torch::addcmul(beta, alpha, x); });
}

Block mixer_block(int64_t width, int64_t tokens) {
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width)), norm2 = block.add("norm2", layer_norm(width));
  auto mlp_tokens = block.add("mlp_tokens", Mlp(tokens, width / 2));
  auto mlp_channels = block.add("mlp_channels", Mlp(width, 4 * width));
  return block.running([=](torch::Tensor x) mutable {
    x = x + mlp_tokens(norm1(x).transpose(1, 2)).transpose(1, 2);
    return x + mlp_channels(norm2(x));
  });
}

Block res_mlp_block(int64_t width, int64_t tokens) {
  Block block;
  auto norm1 = block.add("norm1", affine(width)), norm2 = block.add("norm2", affine(width));
  auto linear_tokens = block.add("linear_tokens", nn::Linear(tokens, tokens));
  auto mlp_channels = block.add("mlp_channels", Mlp(width, 4 * width));
  const auto ls1 = block.add("ls1", first_scale(width)), ls2 = block.add("ls2", first_scale(width));
  return block.running([=](torch::Tensor x) mutable {
    x = x + ls1 * linear_tokens(norm1(x).transpose(1, 2)).transpose(1, 2);
    return x + ls2 * mlp_channels(norm2(x));
  });
}

/// fc2(a * silu(b)) of the halves a and b of fc1(x).
Block gated_mlp(int64_t width, int64_t hidden) {
  Block block;
  auto fc1 = block.add("fc1", nn::Linear(width, hidden)), fc2 = block.add("fc2", nn::Linear(hidden / 2, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto halves = fc1(x).chunk(2, -1);
    return fc2(halves[0] * torch::silu(halves[1]));
  });
}

/// MLP-Mixer's block with gated MLPs.
Block gated_mixer_block(int64_t width, int64_t tokens) {
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width)), norm2 = block.add("norm2", layer_norm(width));
  auto mlp_tokens = block.add("mlp_tokens", gated_mlp(tokens, width));
  auto mlp_channels = block.add("mlp_channels", gated_mlp(width, 4 * width));
  return block.running([=](torch::Tensor x) mutable {
    x = x + mlp_tokens(norm1(x).transpose(1, 2)).transpose(1, 2);
    return x + mlp_channels(norm2(x));
  });
}

/// One half of the channels times the other half, which is mixed over the tokens.
Block spatial_gate(int64_t width, int64_t tokens) {
  Block block;
  auto norm = block.add("norm", layer_norm(width / 2, 1e-5));
  auto proj = block.add("proj", nn::Linear(tokens, tokens));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto halves = x.chunk(2, -1);
    return halves[0] * proj(norm(halves[1]).transpose(1, 2)).transpose(1, 2);
  });
}

Block gated_block(int64_t width, int64_t tokens) {
  Block block;
  const auto hidden = 6 * width;
  auto norm = block.add("norm", layer_norm(width));
  auto mlp_channels = block.add("mlp_channels", chain({{"fc1", nn::Linear(width, hidden)},
                                                       {"act", activation(Act::gelu)},
                                                       {"gate", spatial_gate(hidden, tokens)},
                                                       {"fc2", nn::Linear(hidden / 2, width)}}));
  return block.running([=](const torch::Tensor& x) mutable { return x + mlp_channels(norm(x)); });
}

using MakeBlock = Block (*)(int64_t width, int64_t tokens);

class MlpMixer : public Layered<ByteImageModel> {
 public:
  MlpMixer(MakeBlock make_block, int64_t width, int64_t depth, int64_t side) : Layered(side) {
    add("stem", PatchEmbed(16, width));
    Chain blocks;
    for (int64_t i = 0; i < depth; ++i) blocks->push_back(make_block(width, side / 16 * (side / 16)));
    add("blocks", blocks);
    if (make_block == res_mlp_block)
      add("norm", affine(width));
    else
      add("norm", layer_norm(width));
    add(nn::Functional([](const torch::Tensor& x) { return x.mean(1); }));
    add("head", nn::Linear(width, 1000));
  }
};

auto make(MakeBlock block, int64_t width, int64_t depth) {
  return by_preset<MlpMixer>(std::tuple(block, width, depth, 224), std::tuple(block, 64, 2, 64));
}

TORCHSTONE_MODEL(mixer_s16_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 18'528'264, .make = make(mixer_block, 512, 8));
TORCHSTONE_MODEL(mixer_b16_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 59'880'472, .make = make(mixer_block, 768, 12));
TORCHSTONE_MODEL(gmlp_s16_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 19'422'656, .make = make(gated_block, 256, 30));
TORCHSTONE_MODEL(resmlp_12_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 15'350'872, .make = make(res_mlp_block, 384, 12));
TORCHSTONE_MODEL(gmixer_24_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 24'721'096, .make = make(gated_mixer_block, 384, 24));

}  // namespace
}  // namespace torchstone::mlp_mixer
