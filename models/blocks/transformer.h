#pragma once
#include "models/blocks/attention.h"
#include "models/blocks/mlp.h"
#include "models/blocks/norms.h"

namespace torchstone {

/// Self-attention whose query, key and value come from one projection. [N, L, width] → the same.
struct FusedAttentionImpl : nn::Module {
  FusedAttentionImpl(int64_t width, int64_t head_count, bool bias = true)
      : qkv(register_module("qkv", nn::Linear(nn::LinearOptions(width, 3 * width).bias(bias)))),
        proj(register_module("proj", nn::Linear(width, width))),
        heads(head_count) {}
  torch::Tensor forward(torch::Tensor x) {
    const auto parts = qkv(x).chunk(3, -1);
    return proj(attention(parts[0], parts[1], parts[2], heads));
  }
  nn::Linear qkv, proj;
  int64_t heads;
};
TORCH_MODULE(FusedAttention);

struct EncoderShape {
  int64_t width, heads, hidden;
  double eps = 1e-6;
  Act act = Act::gelu;
  bool qkv_bias = true;
};

/// Pre-norm encoder layer: x + attn(norm1(x)), then x + mlp(norm2(x)).
struct EncoderLayerImpl : nn::Module {
  explicit EncoderLayerImpl(const EncoderShape& shape)
      : norm1(register_module("norm1", layer_norm(shape.width, shape.eps))),
        norm2(register_module("norm2", layer_norm(shape.width, shape.eps))),
        attn(register_module("attn", FusedAttention(shape.width, shape.heads, shape.qkv_bias))),
        mlp(register_module("mlp", Mlp(shape.width, shape.hidden, shape.act))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = x + attn(norm1(x));
    return x + mlp(norm2(x));
  }
  nn::LayerNorm norm1, norm2;
  FusedAttention attn;
  Mlp mlp;
};
TORCH_MODULE(EncoderLayer);

}  // namespace torchstone
