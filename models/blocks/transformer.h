#pragma once
#include <cmath>

#include <torch/torch.h>

#include "models/blocks/basic_layers.h"

namespace torchstone {

/// [N, L, heads * D] → [N, heads, L, D].
inline torch::Tensor split_heads(const torch::Tensor& x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}
/// [N, heads, L, D] → [N, L, heads * D].
inline torch::Tensor join_heads(const torch::Tensor& x) {
  return x.transpose(1, 2).contiguous().reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

struct AttentionRule {
  double dropout = 0;                   ///< rate for the attention weights (active_rate())
  std::optional<torch::Tensor> bias{};  ///< added to the scores; broadcast to [N, heads, L, S]
  bool causal = false;                  ///< a token attends to itself and earlier tokens
  std::optional<double> scale{};        ///< factor of the scores; by default 1 / sqrt(D)
};

/// Returns the rate that a dropout applies: 0 in evaluation.
inline double active_rate(const nn::Dropout& dropout) { return dropout->is_training() ? dropout->options.p() : 0.0; }

/// Computes scaled dot-product attention over heads. Query [N, L, heads * D], key and value [N, S, heads * D] → [N, L,
/// heads * D].
inline torch::Tensor attention(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value,
                               int64_t heads, const AttentionRule& rule = {}) {
  return join_heads(at::scaled_dot_product_attention(split_heads(query, heads), split_heads(key, heads),
                                                     split_heads(value, heads), rule.bias, rule.dropout, rule.causal,
                                                     rule.scale));
}

/// Returns softmax(query * key^T / sqrt(D)) for [N, heads, L, D] and [N, heads, S, D]: [N, heads, L, S].
inline torch::Tensor attention_weights(const torch::Tensor& query, const torch::Tensor& key) {
  const double scale = 1 / std::sqrt(static_cast<double>(query.size(3)));
  return (query.matmul(key.transpose(-2, -1)) * scale).softmax(-1);
}

/// Computes attention() in separate operators, like originals that do not use scaled_dot_product_attention.
inline torch::Tensor unfused_attention(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value,
                                       int64_t heads) {
  const auto weights = attention_weights(split_heads(query, heads), split_heads(key, heads));
  return join_heads(weights.matmul(split_heads(value, heads)));
}

/// Returns the row of a bias table for each pair of positions in a square window: [side^2, side^2] in [0, (2 * side -
/// 1)^2).
inline torch::Tensor relative_positions(int64_t side) {
  const auto axis = torch::arange(side);
  const auto positions = torch::stack({axis.repeat_interleave(side), axis.repeat(side)});
  const auto offsets = positions.unsqueeze(2) - positions.unsqueeze(1) + (side - 1);
  return offsets[0] * (2 * side - 1) + offsets[1];
}

/// Returns the bias that attention adds to its scores: table [rows, heads] and positions [L, L] → [1, heads, L, L].
inline torch::Tensor position_bias(const torch::Tensor& table, const torch::Tensor& positions) {
  const auto rows = table.index({positions.view(-1)});
  return rows.view({positions.size(0), positions.size(1), table.size(1)}).permute({2, 0, 1}).contiguous().unsqueeze(0);
}

/// Projection of an image's square patches: [N, channels, H, W] → [N, tokens, width].
struct PatchEmbedImpl : nn::Module {
  PatchEmbedImpl(int64_t patch, int64_t width, int64_t channels = 3)
      : proj(register_module("proj", conv(channels, width, patch, {.stride = patch}))) {}
  torch::Tensor forward(torch::Tensor images) { return proj(images).flatten(2).transpose(1, 2); }
  nn::Conv2d proj;
};
TORCH_MODULE(PatchEmbed);

/// Returns a PatchEmbed whose tokens are normalised.
inline Block normed_patches(int64_t patch, int64_t in, int64_t out) {
  Block block;
  auto proj = block.add("proj", conv(in, out, patch, {.stride = patch}));
  auto norm = block.add("norm", layer_norm(out, 1e-5));
  return block.running([=](const torch::Tensor& x) mutable { return norm(proj(x).flatten(2).transpose(1, 2)); });
}

/// fc2(act(fc1(x))) over the last dimension, back to its width.
struct MlpImpl : nn::Module {
  MlpImpl(int64_t width, int64_t hidden, Act activation = Act::gelu)
      : fc1(register_module("fc1", nn::Linear(width, hidden))),
        fc2(register_module("fc2", nn::Linear(hidden, width))),
        act(activation) {}
  torch::Tensor forward(torch::Tensor x) { return fc2(activate(act, fc1(x))); }
  nn::Linear fc1, fc2;
  Act act;
};
TORCH_MODULE(Mlp);

/// Returns self-attention whose query, key and value come from one projection: [N, L, width] → the same.
inline Block fused_attention(int64_t width, int64_t heads, bool bias) {
  Block block;
  auto qkv = block.add("qkv", nn::Linear(nn::LinearOptions(width, 3 * width).bias(bias)));
  auto proj = block.add("proj", nn::Linear(width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto parts = qkv(x).chunk(3, -1);
    return proj(attention(parts[0], parts[1], parts[2], heads));
  });
}

struct EncoderShape {
  int64_t width, heads, hidden;
  double eps = 1e-6;
  Act act = Act::gelu;
  bool qkv_bias = true;
  bool layer_scale = false;  ///< each part is multiplied by a learned factor per channel
};

/// Returns a learned factor per channel, `gamma` (Touvron et al., "Going deeper with image transformers", 2021).
inline Block layer_scale(int64_t width) {
  Block block;
  const auto gamma = block.add("gamma", first_scale(width));
  return block.running([gamma](const torch::Tensor& x) { return x * gamma; });
}

/// Returns a pre-norm encoder layer with this attention: x + ls1(attn(norm1(x))), then x + ls2(mlp(norm2(x))). Without
/// layer scale, ls1 and ls2 do nothing.
inline Block encoder_layer(const EncoderShape& shape, const Block& attends) {
  Block block;
  auto norm1 = block.add("norm1", layer_norm(shape.width, shape.eps));
  auto norm2 = block.add("norm2", layer_norm(shape.width, shape.eps));
  auto attn = block.add("attn", attends);
  auto mlp = block.add("mlp", Mlp(shape.width, shape.hidden, shape.act));
  if (!shape.layer_scale) {
    return block.running([=](torch::Tensor x) mutable {
      x = x + attn(norm1(x));
      return x + mlp(norm2(x));
    });
  }
  auto ls1 = block.add("ls1", layer_scale(shape.width)), ls2 = block.add("ls2", layer_scale(shape.width));
  return block.running([=](torch::Tensor x) mutable {
    x = x + ls1(attn(norm1(x)));
    return x + ls2(mlp(norm2(x)));
  });
}

/// Returns the same with self-attention from one projection.
inline Block encoder_layer(const EncoderShape& shape) {
  return encoder_layer(shape, fused_attention(shape.width, shape.heads, shape.qkv_bias));
}

/// Returns a layer that puts a learned token [1, 1, width] before each sequence: [N, L, width] → [N, L + 1, width].
inline nn::Functional prepend(const torch::Tensor& token) {
  return nn::Functional([token](const torch::Tensor& x) {
    return torch::cat({token.expand({x.size(0), -1, -1}), x}, 1);
  });
}

}  // namespace torchstone
