#pragma once
#include <torch/torch.h>

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
  double dropout = 0;                   ///< of the attention weights: 0 in evaluation
  std::optional<torch::Tensor> bias{};  ///< added to the scores, so that it spreads to [N, heads, L, S]
  bool causal = false;                  ///< a token sees itself and those before it
  std::optional<double> scale{};        ///< of the scores; without it 1 / sqrt(D)
};

/// Scaled dot-product attention over heads. Query [N, L, heads * D], key and value [N, S, heads * D] → [N, L, heads *
/// D].
inline torch::Tensor attention(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value,
                               int64_t heads, const AttentionRule& rule = {}) {
  return join_heads(at::scaled_dot_product_attention(split_heads(query, heads), split_heads(key, heads),
                                                     split_heads(value, heads), rule.bias, rule.dropout, rule.causal,
                                                     rule.scale));
}

}  // namespace torchstone
