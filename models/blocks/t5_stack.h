#pragma once
// The parts of T5 under the names of transformers' modules: an encoder and a decoder without biases, whose attention
// adds a learned value for each bucket of distances.
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "models/blocks/cached_step.h"
#include "models/blocks/transformer.h"

namespace torchstone::t5 {

struct T5Shape {
  int64_t vocabulary = 32128, width = 512, layers = 6, heads = 8, head_width = 64, feed_forward = 2048, tokens = 0,
          longest = tokens;
  bool is_mt5 = false;  ///< gates the feed-forward parts and does not scale the last states
};
constexpr double dropout_rate = 0.1;
constexpr int64_t bucket_count = 32;
constexpr double max_distance = 128;  // this and all larger distances share a bucket

/// Returns the bucket of each distance from a query (row) to a key (column); the last query is at the last key. Short
/// distances have their own buckets, long ones share buckets by their logarithm. Each direction has half of the
/// buckets. In a decoder, which only attends backwards, one direction has all.
inline torch::Tensor distance_buckets(int64_t queries, int64_t keys, bool both_directions,
                                      const torch::TensorOptions& options) {
  auto apart = torch::arange(keys, options).unsqueeze(0) - torch::arange(keys - queries, keys, options).unsqueeze(1);
  const auto count = both_directions ? bucket_count / 2 : bucket_count, near = count / 2;
  auto first = torch::zeros_like(apart);
  if (both_directions) {
    first = apart.gt(0).to(torch::kInt64) * count;
    apart = apart.abs();
  } else {
    apart = apart.clamp_max(0).neg();
  }
  const auto ratio = torch::log(apart.to(torch::kFloat32) / static_cast<double>(near)) /
                     std::log(max_distance / static_cast<double>(near));
  const auto far = near + (ratio * static_cast<double>(count - near)).to(torch::kInt64);
  return first + torch::where(apart < near, apart, far.clamp_max(count - 1));
}

struct T5AttentionImpl : nn::Module {
  /// `projects`: false if the keys and values always come from a cache.
  T5AttentionImpl(const T5Shape& shape, bool has_distances, bool projects = true) : heads(shape.heads) {
    const auto inner = shape.heads * shape.head_width;
    q = register_module("q", linear_without_bias(shape.width, inner));
    if (projects) {
      k = register_module("k", linear_without_bias(shape.width, inner));
      v = register_module("v", linear_without_bias(shape.width, inner));
    }
    o = register_module("o", linear_without_bias(inner, shape.width));
    if (has_distances) distances = register_module("relative_attention_bias", nn::Embedding(bucket_count, shape.heads));
  }
  torch::Tensor forward(const torch::Tensor& x, const Cache& source, const std::optional<torch::Tensor>& bias) {
    return o(join_heads(at::scaled_dot_product_attention(split_heads(q(x), heads), source.keys, source.values, bias,
                                                         active_rate(dropout), /*is_causal=*/false, /*scale=*/1.0)));
  }
  /// Appends the keys and values of `source` to `cache`.
  void project(const torch::Tensor& source, Cache& cache) {
    cache.append(split_heads(k(source), heads), split_heads(v(source), heads));
  }
  int64_t heads;
  nn::Linear q{nullptr}, k{nullptr}, v{nullptr}, o{nullptr};
  nn::Embedding distances{nullptr};
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(T5Attention);

enum class Kind {
  encoder,
  decoder,
  step,  ///< a decoder to which the keys and values of the encoder's output are given
};

/// What the two attentions of a layer add to their scores.
struct T5Biases {
  torch::Tensor words;
  std::optional<torch::Tensor> source{};
};

/// x + dropout(body(norm(x))) for each of self-attention, attention to the encoder (in a decoder) and feed-forward.
struct T5LayerImpl : nn::Module {
  T5LayerImpl(const T5Shape& shape, Kind kind, bool has_distances)
      : self(shape, has_distances),
        wi(linear_without_bias(shape.width, shape.feed_forward)),
        wo(linear_without_bias(shape.feed_forward, shape.width)) {
    nn::ModuleList parts;
    const auto add = [&](const char* name, const std::shared_ptr<nn::Module>& body) {
      norms.push_back(RmsNorm(shape.width));
      parts->push_back(group({{name, body}, {"layer_norm", norms.back().ptr()}}));
    };
    add("SelfAttention", self.ptr());
    if (kind != Kind::encoder) {
      cross = T5Attention(shape, /*has_distances=*/false, /*projects=*/kind == Kind::decoder);
      add("EncDecAttention", cross.ptr());
    }
    if (shape.is_mt5) {
      gate = linear_without_bias(shape.width, shape.feed_forward);
      add("DenseReluDense", group({{"wi_0", gate.ptr()}, {"wi_1", wi.ptr()}, {"wo", wo.ptr()}}).ptr());
    } else {
      add("DenseReluDense", group({{"wi", wi.ptr()}, {"wo", wo.ptr()}}).ptr());
    }
    register_module("layer", parts);
  }
  /// Appends this layer's keys and values to `caches`, and those of `source`, the encoder's output, if it is defined.
  torch::Tensor forward(torch::Tensor x, LayerCaches& caches, const T5Biases& biases, const torch::Tensor& source) {
    const auto normed = norms[0](x);
    self->project(normed, caches.words);
    x = x + dropout(self(normed, caches.words, biases.words));
    if (cross) {
      if (source.defined()) cross->project(source, caches.source);
      x = x + dropout(cross(norms[1](x), caches.source, biases.source));
    }
    return x + dropout(wo(dropout(hidden(norms.back()(x)))));
  }
  torch::Tensor hidden(const torch::Tensor& x) {
    if (gate) return activate(Act::tanh_gelu, gate(x)) * wi(x);
    return torch::relu(wi(x));
  }
  T5Attention self, cross{nullptr};
  nn::Linear wi, wo, gate{nullptr};
  std::vector<RmsNorm> norms;
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(T5Layer);

struct T5StackImpl : nn::Module {
  T5StackImpl(const T5Shape& shape, const nn::Embedding& embedding, Kind kind)
      : words(embedding), decodes(kind != Kind::encoder) {
    for (int64_t i = 0; i < shape.layers; ++i) layers.push_back(T5Layer(shape, kind, i == 0));
    register_module("embed_tokens", words);
    register_module("block", list_of(layers));
  }
  /// `source` is the encoder's output, for a decoder.
  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& source) {
    std::vector<LayerCaches> caches(layers.size());
    const auto length = ids.size(1);
    auto bias = distance_bias(length, length, ids.options());
    if (decodes) {
      const auto ahead = torch::ones({length, length}, ids.options().dtype(torch::kBool)).triu(1);
      bias = bias.masked_fill(ahead, -std::numeric_limits<double>::infinity());
    }
    auto x = dropout(words(ids));
    for (size_t i = 0; i < layers.size(); ++i) x = layers[i]->forward(x, caches[i], {bias}, source);
    return dropout(norm(x));
  }
  /// Returns the last state of one more word, whose keys and values it appends to `caches`. As in the original each
  /// layer copies the bias, and the other attention adds zeros.
  torch::Tensor step(const torch::Tensor& ids, std::vector<LayerCaches>& caches) {
    const auto bias = distance_bias(1, caches.front().words.keys.size(2) + 1, ids.options());
    auto x = dropout(words(ids));
    const auto zeros = torch::zeros({1, bias.size(1), 1, caches.front().source.keys.size(2)}, x.options());
    for (size_t i = 0; i < layers.size(); ++i)
      x = layers[i]->forward(x, caches[i], {bias.contiguous(), zeros}, torch::Tensor());
    return dropout(norm(x));
  }
  /// Returns the bias of the scores: [1, heads, queries, keys].
  torch::Tensor distance_bias(int64_t queries, int64_t keys, const torch::TensorOptions& options) {
    const auto buckets = distance_buckets(queries, keys, !decodes, options);
    return layers[0]->self->distances(buckets).permute({2, 0, 1}).unsqueeze(0);
  }
  nn::Embedding words;
  bool decodes;
  std::vector<T5Layer> layers;
  RmsNorm norm = register_module("final_layer_norm", RmsNorm(words->options.embedding_dim()));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(T5Stack);

/// The mini preset.
constexpr T5Shape mini_shape{.vocabulary = 1000,
                             .width = 64,
                             .layers = 2,
                             .heads = 4,
                             .head_width = 16,
                             .feed_forward = 128,
                             .tokens = 32,
                             .longest = 64};

}  // namespace torchstone::t5
