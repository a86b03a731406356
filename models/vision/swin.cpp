// Swin: attention within windows that shift by half a window in every second layer. Stages halve the resolution.
// Paper: Liu et al., "Swin transformer: hierarchical vision transformer using shifted windows", 2021.
// Original: timm's SwinTransformer. Input [N, 3, 224, 224] → logits [N, 1000]; 28,288,354
// (swin_tiny_patch4_window7_224) and 87,768,224 (swin_base_patch4_window7_224) parameters.
// mini: stages of 2 and 2 layers, width 24, windows of 4, 32 pixels.
#include <cmath>
#include <numeric>

#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::swin {
namespace {

/// Splits [N, H, W, C] into windows: [N * windows, window * window, C].
torch::Tensor to_windows(const torch::Tensor& x, int64_t window) {
  const auto rows = x.size(1) / window, columns = x.size(2) / window, channels = x.size(3);
  return x.view({-1, rows, window, columns, window, channels})
      .permute({0, 1, 3, 2, 4, 5})
      .contiguous()
      .view({-1, window * window, channels});
}

/// Joins windows to [N, side, side, C].
torch::Tensor from_windows(const torch::Tensor& x, int64_t window, int64_t side) {
  const auto count = side / window, channels = x.size(2);
  return x.view({-1, count, count, window, window, channels})
      .permute({0, 1, 3, 2, 4, 5})
      .contiguous()
      .view({-1, side, side, channels});
}

/// Returns -100 between positions that are adjacent only because of the shift, else 0: [windows, window^2, window^2].
torch::Tensor shift_mask(int64_t side, int64_t window, int64_t shift) {
  auto region = torch::zeros({side});
  region.slice(0, side - window, side - shift).fill_(1);
  region.slice(0, side - shift).fill_(2);
  const auto regions = region.unsqueeze(1) * 3 + region.unsqueeze(0);
  const auto windows = to_windows(regions.view({1, side, side, 1}), window).squeeze(2);
  return (windows.unsqueeze(1) != windows.unsqueeze(2)).to(torch::kFloat32) * -100;
}

/// Returns attention within windows: [N * windows, L, width] → the same. `mask`: [windows, L, L] or undefined. Like the
/// original it computes the scores itself: scaled_dot_product_attention takes a bias for each image and window, which
/// is slower.
Block window_attention(int64_t width, int64_t heads, int64_t window, const torch::Tensor& mask) {
  Block block;
  auto qkv = block.add("qkv", nn::Linear(width, 3 * width)), proj = block.add("proj", nn::Linear(width, width));
  const auto rows = (2 * window - 1) * (2 * window - 1), length = window * window;
  const auto table = block.add("relative_position_bias_table", torch::randn({rows, heads}) * 0.02);
  const auto places = block.add_buffer("relative_position_index", relative_positions(window));
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qkv(x).reshape({x.size(0), length, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    auto scores = (parts[0] * scale).matmul(parts[1].transpose(-2, -1)) + position_bias(table, places);
    if (mask.defined()) {
      scores = scores.view({-1, mask.size(0), heads, length, length}) + mask.unsqueeze(1).unsqueeze(0);
      scores = scores.view({-1, heads, length, length});
    }
    return proj(join_heads(scores.softmax(-1).matmul(parts[2])));
  });
}

Block swin_block(int64_t width, int64_t heads, int64_t side, int64_t largest_window, bool shifts, double drop) {
  const auto window = std::min(side, largest_window), shift = shifts && side > largest_window ? window / 2 : 0;
  const auto mask = shift > 0 ? shift_mask(side, window, shift) : torch::Tensor();
  Block block;
  auto norm1 = block.add("norm1", layer_norm(width, 1e-5)), norm2 = block.add("norm2", layer_norm(width, 1e-5));
  auto attn = block.add("attn", window_attention(width, heads, window, mask));
  auto mlp = block.add("mlp", Mlp(width, 4 * width));
  auto drop_path = block.add("drop_path", DropPath(drop));
  if (shift > 0) block.add_buffer("attn_mask", mask);
  return block.running([=](torch::Tensor x) mutable {
    auto y = norm1(x);
    if (shift > 0) y = torch::roll(y, {-shift, -shift}, {1, 2});
    y = from_windows(attn(to_windows(y, window)), window, x.size(1));
    if (shift > 0) y = torch::roll(y, {shift, shift}, {1, 2});
    x = x + drop_path(y);
    return x + drop_path(mlp(norm2(x)));
  });
}

/// Merges four neighbours into one position of twice the width.
Block patch_merging(int64_t width) {
  Block block;
  auto norm = block.add("norm", layer_norm(4 * width, 1e-5));
  auto reduction = block.add("reduction", linear_without_bias(4 * width, 2 * width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto half = x.size(1) / 2;
    const auto cells = x.reshape({x.size(0), half, 2, half, 2, x.size(3)});
    return reduction(norm(cells.permute({0, 1, 3, 4, 2, 5}).flatten(3)));
  });
}

Block patches(int64_t width) {
  Block block;
  auto proj = block.add("proj", conv(3, width, 4, {.stride = 4}));
  auto norm = block.add("norm", layer_norm(width, 1e-5));
  return block.running([=](const torch::Tensor& x) mutable { return norm(proj(x).permute({0, 2, 3, 1})); });
}

struct SwinShape {
  std::vector<int64_t> depths, heads;
  int64_t width, window = 7, side = 224;
};

class Swin : public Layered<ByteImageModel> {
 public:
  explicit Swin(const SwinShape& shape) : Layered(shape.side) {
    auto width = shape.width, side = shape.side / 4;
    add("patch_embed", patches(width));
    Chain layers;
    const auto last = std::accumulate(shape.depths.begin(), shape.depths.end(), int64_t{0}) - 1;
    int64_t place = 0;
    for (size_t i = 0; i < shape.depths.size(); ++i) {
      Chain stage, blocks;
      if (i > 0) {
        stage->push_back("downsample", patch_merging(width));
        width *= 2;
        side /= 2;
      }
      for (int64_t block = 0; block < shape.depths[i]; ++block, ++place) {
        const auto drop = 0.1 * static_cast<double>(place) / static_cast<double>(last);
        blocks->push_back(swin_block(width, shape.heads[i], side, shape.window, block % 2 == 1, drop));
      }
      stage->push_back("blocks", blocks);
      layers->push_back(stage);
    }
    add("layers", layers);
    add("norm", layer_norm(width, 1e-5));
    add(nn::Functional([](const torch::Tensor& x) { return x.mean({1, 2}); }));
    add("head", chain({{"fc", nn::Linear(width, 1000)}}));
    init_linears_normal(*this, 0.02);
  }

  bool in_state_dict(const std::string& name) const override {
    return !name.ends_with("relative_position_index") && !name.ends_with("attn_mask");
  }
};

auto make(const SwinShape& full) {
  return by_preset<Swin>(full, SwinShape{.depths = {2, 2}, .heads = {2, 4}, .width = 24, .window = 4, .side = 32});
}

TORCHSTONE_MODEL(swin_tiny_patch4_window7_224, .family = "swin", .suites = {"timm"}, .train_batch = 64,
                 .eval_batch = 64, .parameters = 28'288'354,
                 .make = make({.depths = {2, 2, 6, 2}, .heads = {3, 6, 12, 24}, .width = 96}));
TORCHSTONE_MODEL(swin_base_patch4_window7_224, .family = "swin", .suites = {"timm"}, .train_batch = 128,
                 .eval_batch = 128, .parameters = 87'768'224,
                 .make = make({.depths = {2, 2, 18, 2}, .heads = {4, 8, 16, 32}, .width = 128}));

}  // namespace
}  // namespace torchstone::swin
