#pragma once
#include <torch/torch.h>

namespace torchstone {

/// Scaled dot-product attention over heads. Query [N, L, heads * D], key and value [N, S, heads * D] → [N, L, heads *
/// D]. `dropout` applies to the attention weights: pass 0 in evaluation.
inline torch::Tensor attention(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value,
                               int64_t heads, double dropout) {
  const auto split = [heads](const torch::Tensor& x) {
    return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
  };
  const auto mixed =
      at::scaled_dot_product_attention(split(query), split(key), split(value), /*attn_mask=*/{}, dropout);
  return mixed.transpose(1, 2).contiguous().reshape({query.size(0), query.size(1), query.size(2)});
}

}  // namespace torchstone
