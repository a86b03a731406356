// LeViT: attention with batch-normalised linear layers and a learned value for each distance. Between stages, a
// quarter of the positions are queries.
// Paper: Graham et al., "LeViT: a vision transformer in ConvNet's clothing for faster inference", 2021.
// Original: timm's LevitDistilled. Input [N, 3, 224, 224] → logits [N, 1000]; 9,213,936 parameters.
// mini: two stages of one block, widths 64 and 96, 128 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::levit {
namespace {

constexpr int64_t key_width = 16;  // width of a head's keys

/// A linear layer and BatchNorm over all positions. The originals initialise the last BatchNorm of a branch with 0.
/// Here it is 1, so that errors in the branch have an effect.
struct LinearNormImpl : nn::Module {
  LinearNormImpl(int64_t in, int64_t out)
      : linear(register_module("linear", linear_without_bias(in, out))),
        bn(register_module("bn", nn::BatchNorm1d(out))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto y = linear(x);
    return bn(y.flatten(0, 1)).reshape_as(y);
  }
  nn::Linear linear;
  nn::BatchNorm1d bn;
};
TORCH_MODULE(LinearNorm);

/// Returns the distance of each `stride`-th position of a grid from each position, as an index: [queries, positions].
torch::Tensor distances(int64_t grid, int64_t stride) {
  const auto apart = (torch::arange(0, grid, stride).unsqueeze(1) - torch::arange(grid).unsqueeze(0)).abs();
  const auto count = apart.size(0);
  const auto rows = apart.view({count, 1, grid, 1}), columns = apart.view({1, count, 1, grid});
  return (rows * grid + columns).view({count * count, grid * grid});
}

struct AttentionShape {
  int64_t in, out, heads, ratio, grid;  ///< a head's values are `ratio` times as wide as its keys
  int64_t stride = 1;                   ///< more than 1: queries have a separate layer
};

struct LevitAttentionImpl : nn::Module {
  explicit LevitAttentionImpl(const AttentionShape& s) : shape(s) {
    const auto keys = key_width * s.heads, values = s.ratio * keys;
    biases = register_parameter("attention_biases", torch::randn({s.heads, s.grid * s.grid}) * 0.02);
    places = register_buffer("attention_bias_idxs", distances(s.grid, s.stride));
    if (s.stride == 1) {
      mixed = register_module("qkv", LinearNorm(s.in, 2 * keys + values));
    } else {
      mixed = register_module("kv", LinearNorm(s.in, keys + values));
      query = LinearNorm(s.in, keys);
      register_module("q", chain({{"ln", query}}));
    }
    proj = register_module("proj", chain({{"act", activation(Act::hardswish)}, {"ln", LinearNorm(values, s.out)}}));
  }
  torch::Tensor forward(torch::Tensor x) {
    const auto batch = x.size(0), places_count = x.size(1), value = shape.ratio * key_width;
    auto parts = split(mixed(x), shape.stride == 1 ? std::vector<int64_t>{key_width, key_width, value}
                                                   : std::vector<int64_t>{key_width, value});
    if (shape.stride > 1) {
      const auto grid = x.view({batch, shape.grid, shape.grid, x.size(2)});
      const auto some = grid.slice(1, 0, places_count, shape.stride).slice(2, 0, places_count, shape.stride);
      parts.insert(parts.begin(), split_heads(query(some.reshape({batch, -1, x.size(2)})), shape.heads));
    }
    const auto scores = torch::matmul(parts[0], parts[1].transpose(2, 3)) * 0.25;  // 1 / sqrt(key_width)
    const auto bias = biases.index_select(1, places.view(-1)).view({shape.heads, places.size(0), places.size(1)});
    return proj(join_heads(torch::matmul((scores + bias).softmax(-1), parts[2])));
  }
  /// Splits [N, L, heads * sum of widths] into [N, heads, L, width] for each width.
  Tensors split(const torch::Tensor& x, const std::vector<int64_t>& widths) const {
    return split_heads(x, shape.heads).split_with_sizes(widths, 3);
  }
  AttentionShape shape;
  torch::Tensor biases, places;
  LinearNorm mixed{nullptr}, query{nullptr};
  Chain proj{nullptr};
};
TORCH_MODULE(LevitAttention);

Chain levit_mlp(int64_t width) {
  return chain({{"ln1", LinearNorm(width, 2 * width)},
                {"act", activation(Act::hardswish)},
                {"ln2", LinearNorm(2 * width, width)}});
}

struct LevitBlockImpl : nn::Module {
  LevitBlockImpl(int64_t width, int64_t heads, int64_t grid)
      : attn(register_module("attn", LevitAttention(AttentionShape{width, width, heads, 2, grid}))),
        mlp(register_module("mlp", levit_mlp(width))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = x + attn(x);
    return x + mlp(x);
  }
  LevitAttention attn;
  Chain mlp;
};
TORCH_MODULE(LevitBlock);

struct LevitDownsampleImpl : nn::Module {
  LevitDownsampleImpl(int64_t in, int64_t out, int64_t grid)
      : attn(register_module("attn_downsample", LevitAttention(AttentionShape{in, out, in / key_width, 4, grid, 2}))),
        mlp(register_module("mlp", levit_mlp(out))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = attn(x);
    return x + mlp(x);
  }
  LevitAttention attn;
  Chain mlp;
};
TORCH_MODULE(LevitDownsample);

struct LevitShape {
  std::vector<int64_t> widths, heads;
  int64_t depth, side;
};

class Levit : public ByteImageModel {
 public:
  explicit Levit(const LevitShape& shape) : ByteImageModel(shape.side) {
    Chain stem;
    int64_t in = 3;
    for (int64_t i = 0; i < 4; ++i) {
      const auto out = shape.widths[0] >> (3 - i);
      const auto number = std::to_string(i + 1);
      if (i > 0) stem->push_back("act" + std::to_string(i), activation(Act::hardswish));
      stem->push_back("conv" + number, chain({{"linear", same_conv(in, out, {.kernel = 3, .stride = 2})},
                                              {"bn", nn::BatchNorm2d(out)}}));
      in = out;
    }
    stem_ = register_module("stem", stem);
    auto grid = shape.side / 16;
    for (size_t i = 0; i < shape.widths.size(); ++i) {
      Chain stage, blocks;
      if (i > 0) {
        stage->push_back("downsample", LevitDownsample(in, shape.widths[i], grid));
        grid = (grid + 1) / 2;
        in = shape.widths[i];
      }
      for (int64_t block = 0; block < shape.depth; ++block) blocks->push_back(LevitBlock(in, shape.heads[i], grid));
      stage->push_back("blocks", blocks);
      stages_->push_back(stage);
    }
    register_module("stages", stages_);
    for (const auto* name : {"head", "head_dist"}) {
      heads_.push_back(register_module(name, chain({{"bn", nn::BatchNorm1d(in)}, {"linear", nn::Linear(in, 1000)}})));
    }
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto x = stages_(stem_(inputs.at(0)).flatten(2).transpose(1, 2)).mean(1);
    return (heads_[0](x) + heads_[1](x)) / 2;
  }

  bool in_state_dict(const std::string& name) const override { return !name.ends_with("attention_bias_idxs"); }

 private:
  Chain stem_{nullptr}, stages_;
  std::vector<Chain> heads_;
};

TORCHSTONE_MODEL(levit_128, .family = "levit", .suites = {"timm"}, .train_batch = 1024, .eval_batch = 1024,
                 .parameters = 9'213'936,
                 .make = by_preset<Levit>(LevitShape{{128, 256, 384}, {4, 8, 12}, 4, 224},
                                          LevitShape{{64, 96}, {2, 3}, 1, 128}));

}  // namespace
}  // namespace torchstone::levit
