// Networks without attention that mix tokens by linear layers: MLP-Mixer, gMLP and ResMLP.
// Papers: Tolstikhin et al., "MLP-Mixer: an all-MLP architecture for vision", 2021; Liu et al., "Pay attention to
// MLPs", 2021; Touvron et al., "ResMLP: feedforward networks for image classification with data-efficient training",
// 2021. Original: timm's MlpMixer. Input [N, 3, 224, 224] → logits [N, 1000]; 18,528,264 (mixer_s16_224), 59,880,472
// (mixer_b16_224), 19,422,656 (gmlp_s16_224) and 15,350,872 (resmlp_12_224) parameters. mini: 2 blocks of width 64, 64
// pixels.
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::mlp_mixer {
namespace {

/// x * alpha + beta, which replaces a norm in ResMLP.
struct AffineImpl : nn::Module {
  explicit AffineImpl(int64_t width)
      : alpha(register_parameter("alpha", torch::ones({1, 1, width}))),
        beta(register_parameter("beta", torch::zeros({1, 1, width}))) {}
  torch::Tensor forward(torch::Tensor x) { return torch::addcmul(beta, alpha, x); }
  torch::Tensor alpha, beta;
};
TORCH_MODULE(Affine);

struct MixerBlockImpl : nn::Module {
  MixerBlockImpl(int64_t width, int64_t tokens)
      : norm1(register_module("norm1", layer_norm(width))),
        norm2(register_module("norm2", layer_norm(width))),
        mlp_tokens(register_module("mlp_tokens", Mlp(tokens, width / 2))),
        mlp_channels(register_module("mlp_channels", Mlp(width, 4 * width))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = x + mlp_tokens(norm1(x).transpose(1, 2)).transpose(1, 2);
    return x + mlp_channels(norm2(x));
  }
  nn::LayerNorm norm1, norm2;
  Mlp mlp_tokens, mlp_channels;
};
TORCH_MODULE(MixerBlock);

struct ResMlpBlockImpl : nn::Module {
  ResMlpBlockImpl(int64_t width, int64_t tokens)
      : norm1(register_module("norm1", Affine(width))),
        norm2(register_module("norm2", Affine(width))),
        linear_tokens(register_module("linear_tokens", nn::Linear(tokens, tokens))),
        mlp_channels(register_module("mlp_channels", Mlp(width, 4 * width))),
        ls1(register_parameter("ls1", first_scale(width))),
        ls2(register_parameter("ls2", first_scale(width))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = x + ls1 * linear_tokens(norm1(x).transpose(1, 2)).transpose(1, 2);
    return x + ls2 * mlp_channels(norm2(x));
  }
  Affine norm1, norm2;
  nn::Linear linear_tokens;
  Mlp mlp_channels;
  torch::Tensor ls1, ls2;
};
TORCH_MODULE(ResMlpBlock);

/// One half of the channels times the other half, which is mixed over the tokens.
struct SpatialGateImpl : nn::Module {
  SpatialGateImpl(int64_t width, int64_t tokens)
      : norm(register_module("norm", layer_norm(width / 2, 1e-5))),
        proj(register_module("proj", nn::Linear(tokens, tokens))) {}
  torch::Tensor forward(torch::Tensor x) {
    const auto halves = x.chunk(2, -1);
    return halves[0] * proj(norm(halves[1]).transpose(1, 2)).transpose(1, 2);
  }
  nn::LayerNorm norm;
  nn::Linear proj;
};
TORCH_MODULE(SpatialGate);

struct GatedBlockImpl : nn::Module {
  GatedBlockImpl(int64_t width, int64_t tokens) : norm(register_module("norm", layer_norm(width))) {
    const auto hidden = 6 * width;
    mlp_channels->push_back("fc1", nn::Linear(width, hidden));
    mlp_channels->push_back("act", activation(Act::gelu));
    mlp_channels->push_back("gate", SpatialGate(hidden, tokens));
    mlp_channels->push_back("fc2", nn::Linear(hidden / 2, width));
    register_module("mlp_channels", mlp_channels);
  }
  torch::Tensor forward(torch::Tensor x) { return x + mlp_channels->forward(norm(x)); }
  nn::LayerNorm norm;
  nn::Sequential mlp_channels;
};
TORCH_MODULE(GatedBlock);

template <class Block, class Norm>
class MlpMixer : public ByteImageModel {
 public:
  MlpMixer(int64_t width, int64_t depth, int64_t side)
      : ByteImageModel(side), stem_(register_module("stem", PatchEmbed(16, width))) {
    for (int64_t i = 0; i < depth; ++i) blocks_->push_back(Block(width, side / 16 * (side / 16)));
    register_module("blocks", blocks_);
    if constexpr (std::is_same_v<Norm, nn::LayerNorm>)
      norm_ = layer_norm(width);
    else
      norm_ = Norm(width);
    register_module("norm", norm_);
    head_ = register_module("head", nn::Linear(width, 1000));
  }

  c10::IValue forward(const Tensors& inputs) override {
    return head_(norm_(blocks_->forward(stem_(inputs.at(0)))).mean(1));
  }

 private:
  PatchEmbed stem_;
  nn::Sequential blocks_;
  Norm norm_{nullptr};
  nn::Linear head_{nullptr};
};

template <class Block, class Norm = nn::LayerNorm>
auto make(int64_t width, int64_t depth) {
  return by_preset<MlpMixer<Block, Norm>>(std::tuple(width, depth, 224), std::tuple(64, 2, 64));
}

TORCHSTONE_MODEL(mixer_s16_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 18'528'264, .make = make<MixerBlock>(512, 8));
TORCHSTONE_MODEL(mixer_b16_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 59'880'472, .make = make<MixerBlock>(768, 12));
TORCHSTONE_MODEL(gmlp_s16_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 19'422'656, .make = make<GatedBlock>(256, 30));
TORCHSTONE_MODEL(resmlp_12_224, .family = "mlp_mixer", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 15'350'872, .make = make<ResMlpBlock, Affine>(384, 12));

}  // namespace
}  // namespace torchstone::mlp_mixer
