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
Block linear_norm(int64_t in, int64_t out) {
  Block block;
  auto linear = block.add("linear", linear_without_bias(in, out));
  auto bn = block.add("bn", nn::BatchNorm1d(out));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto y = linear(x);
    return bn(y.flatten(0, 1)).reshape_as(y);
  });
}

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

Block levit_attention(const AttentionShape& s) {
  const auto keys = key_width * s.heads, values = s.ratio * keys;
  std::vector<int64_t> widths = {key_width, s.ratio * key_width};
  Block block, mixed{nullptr}, query{nullptr};
  const auto biases = block.add("attention_biases", torch::randn({s.heads, s.grid * s.grid}) * 0.02);
  const auto places = block.add_buffer("attention_bias_idxs", distances(s.grid, s.stride));
  if (s.stride == 1) {
    mixed = block.add("qkv", linear_norm(s.in, 2 * keys + values));
    widths.insert(widths.begin(), key_width);
  } else {
    mixed = block.add("kv", linear_norm(s.in, keys + values));
    query = linear_norm(s.in, keys);
    block.add("q", chain({{"ln", query}}));
  }
  auto proj = block.add("proj", chain({{"act", activation(Act::hardswish)}, {"ln", linear_norm(values, s.out)}}));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto batch = x.size(0), count = x.size(1);
    auto parts = split_heads(mixed(x), s.heads).split_with_sizes(widths, 3);
    if (s.stride > 1) {
      const auto grid = x.view({batch, s.grid, s.grid, x.size(2)});
      const auto some = grid.slice(1, 0, count, s.stride).slice(2, 0, count, s.stride);
      parts.insert(parts.begin(), split_heads(query(some.reshape({batch, -1, x.size(2)})), s.heads));
    }
    const auto scores = torch::matmul(parts[0], parts[1].transpose(2, 3)) * 0.25;  // 1 / sqrt(key_width)
    const auto bias = biases.index({torch::indexing::Slice(), places});
    return proj(join_heads(torch::matmul((scores + bias).softmax(-1), parts[2])));
  });
}

Chain levit_mlp(int64_t width) {
  return chain({{"ln1", linear_norm(width, 2 * width)},
                {"act", activation(Act::hardswish)},
                {"ln2", linear_norm(2 * width, width)}});
}

Block levit_block(int64_t width, int64_t heads, int64_t grid) {
  Block block;
  auto attn = block.add("attn", levit_attention({width, width, heads, 2, grid}));
  auto mlp = block.add("mlp", levit_mlp(width));
  return block.running([=](torch::Tensor x) mutable {
    x = x + attn(x);
    return x + mlp(x);
  });
}

Block levit_downsample(int64_t in, int64_t out, int64_t grid) {
  Block block;
  auto attn = block.add("attn_downsample", levit_attention({in, out, in / key_width, 4, grid, 2}));
  auto mlp = block.add("mlp", levit_mlp(out));
  return block.running([=](torch::Tensor x) mutable {
    x = attn(x);
    return x + mlp(x);
  });
}

struct LevitShape {
  std::vector<int64_t> widths, heads;
  int64_t depth, side;
};

class Levit : public Layered<ByteImageModel> {
 public:
  explicit Levit(const LevitShape& shape) : Layered(shape.side) {
    Chain stem, stages;
    int64_t in = 3;
    for (int64_t i = 0; i < 4; ++i) {
      const auto out = shape.widths[0] >> (3 - i);
      const auto number = std::to_string(i + 1);
      if (i > 0) stem->push_back("act" + std::to_string(i), activation(Act::hardswish));
      stem->push_back("conv" + number, chain({{"linear", same_conv(in, out, {.kernel = 3, .stride = 2})},
                                              {"bn", nn::BatchNorm2d(out)}}));
      in = out;
    }
    add("stem", stem);
    add(nn::Functional([](const torch::Tensor& x) { return x.flatten(2).transpose(1, 2); }));
    auto grid = shape.side / 16;
    for (size_t i = 0; i < shape.widths.size(); ++i) {
      Chain stage, blocks;
      if (i > 0) {
        stage->push_back("downsample", levit_downsample(in, shape.widths[i], grid));
        grid = (grid + 1) / 2;
        in = shape.widths[i];
      }
      for (int64_t block = 0; block < shape.depth; ++block) blocks->push_back(levit_block(in, shape.heads[i], grid));
      stage->push_back("blocks", blocks);
      stages->push_back(stage);
    }
    add("stages", stages);
    const auto head = [in] { return chain({{"bn", nn::BatchNorm1d(in)}, {"linear", nn::Linear(in, 1000)}}); };
    Chain heads[] = {head(), head()};
    register_module("head", heads[0]);
    register_module("head_dist", heads[1]);
    add(nn::Functional([heads](const torch::Tensor& x) mutable {
      const auto mean = x.mean(1);
      return (heads[0](mean) + heads[1](mean)) / 2;
    }));
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.02);
  }

  bool in_state_dict(const std::string& name) const override { return !name.ends_with("attention_bias_idxs"); }
};

TORCHSTONE_MODEL(levit_128, .family = "levit", .suites = {"timm"}, .train_batch = 1024, .eval_batch = 1024,
                 .parameters = 9'213'936,
                 .make = by_preset<Levit>(LevitShape{{128, 256, 384}, {4, 8, 12}, 4, 224},
                                          LevitShape{{64, 96}, {2, 3}, 1, 128}));

}  // namespace
}  // namespace torchstone::levit
