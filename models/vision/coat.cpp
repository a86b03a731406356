// CoaT-Lite: attention of linear cost, softmax(keys)^T * values, with depthwise convolutions as position encodings.
// Paper: Xu, Xu, Chang, Tu, "Co-scale conv-attentional image transformers", 2021. Original: timm's CoaT without
// parallel blocks. Input [N, 3, 224, 224] → logits [N, 1000]; 11,011,560 parameters.
// mini: stages of 2, 1, 1 and 1 blocks, widths 16 to 64, 64 pixels.
#include <array>
#include <cmath>

#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::coat {
namespace {

constexpr int64_t heads = 8, first_patch = 4;

/// Adds a depthwise convolution of the image tokens to them: [N, 1 + side^2, width] → the same.
Block position_encoding(int64_t width, int64_t side) {
  Block block;
  auto proj = block.add("proj", conv(width, width, 3, {.padding = 1, .groups = width}));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto image = x.slice(1, 1).transpose(1, 2).view({x.size(0), width, side, side});
    const auto tokens = (proj(image) + image).flatten(2).transpose(1, 2);
    return torch::cat({x.slice(1, 0, 1), tokens}, 1);
  });
}

/// Queries times depthwise convolutions of the values, whose window depends on the head. The class token gets zeros.
/// Query and value [N, heads, 1 + side^2, D] → the same.
struct RelativePositionsImpl : nn::Module {
  RelativePositionsImpl(int64_t width, int64_t side_of_image) : side(side_of_image) {
    for (const auto& [window, count] : std::array<std::array<int64_t, 2>, 3>{{{3, 2}, {5, 3}, {7, 3}}}) {
      channels.push_back(count * (width / heads));
      convs.push_back(
          conv(channels.back(), channels.back(), window, {.padding = window / 2, .groups = channels.back()}));
    }
    register_module("conv_list", list_of(convs));
  }
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& value) {
    const auto batch = value.size(0), depth = value.size(3);
    const auto image = value.slice(2, 1).transpose(-1, -2).reshape({batch, heads * depth, side, side});
    auto parts = image.split_with_sizes(channels, 1);
    for (size_t i = 0; i < parts.size(); ++i) parts[i] = convs[i](parts[i]);
    const auto places = torch::cat(parts, 1).reshape({batch, heads, depth, side * side}).transpose(-1, -2);
    return torch::constant_pad_nd(query.slice(2, 1) * places, {0, 0, 1, 0, 0, 0});
  }
  int64_t side;
  std::vector<int64_t> channels{};
  std::vector<nn::Conv2d> convs{};
};
TORCH_MODULE(RelativePositions);

Block factorised_attention(int64_t width, const RelativePositions& positions) {
  Block block;
  auto qkv = block.add("qkv", nn::Linear(width, 3 * width)), proj = block.add("proj", nn::Linear(width, width));
  auto crpe = block.add("crpe", positions);
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts =
        qkv(x).reshape({x.size(0), x.size(1), 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    const auto context = parts[1].softmax(2).transpose(-1, -2).matmul(parts[2]);
    const auto mixed = scale * parts[0].matmul(context) + crpe(parts[0], parts[2]);
    return proj(mixed.transpose(1, 2).reshape(x.sizes()));
  });
}

/// The blocks of a stage share their position encodings.
Block coat_block(int64_t width, int64_t hidden, const Block& encoding, const RelativePositions& positions) {
  Block block;
  auto cpe = block.add("cpe", encoding);
  auto norm1 = block.add("norm1", layer_norm(width)), norm2 = block.add("norm2", layer_norm(width));
  auto attn = block.add("factoratt_crpe", factorised_attention(width, positions));
  auto mlp = block.add("mlp", Mlp(width, hidden));
  return block.running([=](torch::Tensor x) mutable {
    x = cpe(x);
    x = x + attn(norm1(x));
    return x + mlp(norm2(x));
  });
}

struct CoatShape {
  std::array<int64_t, 4> widths, depths;
  int64_t side = 224;
};

class Coat : public Layered<ByteImageModel> {
 public:
  explicit Coat(const CoatShape& shape) : Layered(shape.side) {
    constexpr std::array<int64_t, 4> mlp_ratios{8, 8, 4, 4};
    int64_t in = 3, side = shape.side;
    for (size_t i = 0; i < shape.widths.size(); ++i) {
      const auto number = std::to_string(i + 1);
      const auto width = shape.widths[i], patch = i == 0 ? first_patch : 2;
      add("patch_embed" + number, normed_patches(patch, in, width));
      in = width;
      side /= patch;
      add(prepend(register_parameter("cls_token" + number, torch::randn({1, 1, width}) * 0.02)));
      const auto encoding = register_module("cpe" + number, position_encoding(width, side));
      const auto positions = register_module("crpe" + number, RelativePositions(width, side));
      Chain blocks;
      for (int64_t block = 0; block < shape.depths[i]; ++block)
        blocks->push_back(coat_block(width, width * mlp_ratios[i], encoding, positions));
      add("serial_blocks" + number, blocks);
      if (i + 1 < shape.widths.size()) {
        add(nn::Functional([=](const torch::Tensor& x) {
          return x.slice(1, 1).reshape({x.size(0), side, side, width}).permute({0, 3, 1, 2}).contiguous();
        }));
      }
    }
    add("norm4", layer_norm(in));
    add(nn::Functional([](const torch::Tensor& x) { return x.select(1, 0); }));
    add("head", nn::Linear(in, 1000));
    init_linears_normal(*this, 0.02);
  }
};

TORCHSTONE_MODEL(coat_lite_mini, .family = "coat", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 11'011'560,
                 .make = by_preset<Coat>(CoatShape{{64, 128, 320, 512}, {2, 2, 2, 2}},
                                         CoatShape{{16, 32, 64, 64}, {2, 1, 1, 1}, 64}));

}  // namespace
}  // namespace torchstone::coat
