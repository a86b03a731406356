#pragma once
// One step of LLaMA, or of a decoder with the same plan. It takes a prompt and fills a cache of keys and values, or it
// takes one more word and uses the cache. Modules have the names of transformers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "models/blocks/cache.h"
#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone {

/// Sizes of a decoder, and its differences from LLaMA.
struct DecoderShape {
  int64_t vocabulary, width, layers, heads, key_heads, head_width, feed_forward, prompt = 32, cached = 127;
  double theta = 10000;      ///< base of the rotary positions' wavelengths
  Act act = Act::silu;       ///< of the gated feed-forward
  bool head_norm = false;    ///< normalises the queries and keys of each head
  bool tied = false;         ///< the head has the weight of the words
  int64_t window = 0;        ///< number of positions that a query attends to, including its own; 0: all earlier ones
  int64_t global_every = 0;  ///< each such layer has no window (0: none)
  double local_theta = 0;    ///< theta of the layers with a window; 0: the same
  bool gemma = false;       ///< scales the words, stores the norms' weights less 1, and normalises each branch's result
  double epsilon = 1e-6;    ///< of the norms
  double rotary_part = 1;   ///< the part of each head that is rotated
  double rotary_scale = 1;  ///< factor of the cosines and sines
  bool fused = false;       ///< one product gives queries, keys and values, and one gives gate and up
  bool native_groups = false;  ///< the attention operator repeats the key heads itself, unless it gets a mask
  bool wide_norm = false;      ///< the norms multiply by their weights in float32
  bool adds_mask = false;      ///< attention without a fused operator adds a mask to the scores
  double yarn_factor = 0;      ///< stretches long wavelengths by this factor (YaRN); 0: none
  double trained_on = 4096;    ///< positions in training before YaRN

  int64_t query_width() const { return heads * head_width; }
  int64_t key_width() const { return key_heads * head_width; }
  bool has_window(int64_t layer) const { return window > 0 && (global_every == 0 || (layer + 1) % global_every != 0); }
  RmsNorm norm(int64_t size) const { return RmsNorm(size, epsilon, gemma, wide_norm); }
};

/// Cosines and sines of each position's rotation: [L, rotated elements] each.
struct Rotation {
  torch::Tensor cosines, sines;
  /// Rotates x [N, heads, L, D], or only the first elements of each head.
  torch::Tensor operator()(const torch::Tensor& x) const {
    const auto rotated = cosines.size(-1);
    if (rotated < x.size(-1)) return torch::cat({(*this)(x.slice(-1, 0, rotated)), x.slice(-1, rotated)}, -1);
    const auto halves = x.chunk(2, -1);
    return x * cosines + torch::cat({-halves[1], halves[0]}, -1) * sines;
  }
};

/// Positions in all layers of one kind: with a window, or without.
struct Positions {
  Rotation rotate;
  /// The keys that each query attends to [L, S]; none: all before it. With `adds_mask`, 0 for these keys and -infinity
  /// for the others.
  std::optional<torch::Tensor> visible;
};

/// Returns the frequencies of YaRN (Peng et al., "YaRN", 2023) without truncation. Frequencies of less than one turn
/// over the positions in training are divided by a factor. Those of more than 32 turns stay. Others are interpolated.
inline torch::Tensor stretched(const torch::Tensor& frequencies, double theta, double factor, double trained_on) {
  const auto size = 2 * static_cast<double>(frequencies.size(0));
  const auto place_of = [&](double turns) {
    return size * std::log(trained_on / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
  };
  const auto low = std::max(place_of(32), 0.0), high = std::min(place_of(1), size - 1);
  const auto places = torch::arange(frequencies.size(0), torch::kFloat32);
  const auto kept = 1 - ((places - low) / (high - low)).clamp(0, 1);
  return frequencies / factor * (1 - kept) + frequencies * kept;
}

/// Repeats each key head for several query heads.
inline torch::Tensor repeated(const torch::Tensor& x, int64_t times) {
  if (times == 1) return x;
  return x.unsqueeze(2).expand({-1, -1, times, -1, -1}).reshape({x.size(0), x.size(1) * times, x.size(2), x.size(3)});
}

struct DecoderLayerImpl : nn::Module {
  explicit DecoderLayerImpl(const DecoderShape& s)
      : shape(s),
        before_attention(register_module("input_layernorm", s.norm(s.width))),
        before_mlp(
            register_module(s.gemma ? "pre_feedforward_layernorm" : "post_attention_layernorm", s.norm(s.width))) {
    nn::ModuleDict attn, mlp;
    const auto add = [](nn::ModuleDict& parent, const std::string& name, int64_t in, int64_t out) {
      return parent->register_module(name, linear_without_bias(in, out));
    };
    if (s.fused) {
      qkv = add(attn, "qkv_proj", s.width, s.query_width() + 2 * s.key_width());
    } else {
      q = add(attn, "q_proj", s.width, s.query_width());
      k = add(attn, "k_proj", s.width, s.key_width());
      v = add(attn, "v_proj", s.width, s.key_width());
    }
    o = add(attn, "o_proj", s.query_width(), s.width);
    if (s.fused) {
      gate_up = add(mlp, "gate_up_proj", s.width, 2 * s.feed_forward);
    } else {
      gate = add(mlp, "gate_proj", s.width, s.feed_forward);
      up = add(mlp, "up_proj", s.width, s.feed_forward);
    }
    down = add(mlp, "down_proj", s.feed_forward, s.width);
    if (s.head_norm) {
      q_norm = attn->register_module("q_norm", s.norm(s.head_width));
      k_norm = attn->register_module("k_norm", s.norm(s.head_width));
    }
    if (s.gemma) {
      after_attention = register_module("post_attention_layernorm", s.norm(s.width));
      after_mlp = register_module("post_feedforward_layernorm", s.norm(s.width));
    }
    register_module("self_attn", attn);
    register_module("mlp", mlp);
  }
  /// Appends this layer's keys and values to `cache`.
  torch::Tensor forward(torch::Tensor x, const Positions& positions, Cache& cache) {
    x = x + normed(after_attention, attend(before_attention(x), positions, cache));
    return x + normed(after_mlp, down(gated(before_mlp(x))));
  }

  DecoderShape shape;
  nn::Linear q{nullptr}, k{nullptr}, v{nullptr}, o{nullptr}, gate{nullptr}, up{nullptr}, down{nullptr};
  nn::Linear qkv{nullptr}, gate_up{nullptr};  // instead of q, k and v, and of gate and up
  RmsNorm before_attention, before_mlp, q_norm{nullptr}, k_norm{nullptr}, after_attention{nullptr}, after_mlp{nullptr};

 private:
  static torch::Tensor normed(RmsNorm& norm, const torch::Tensor& x) { return norm ? norm(x) : x; }

  torch::Tensor attend(const torch::Tensor& x, const Positions& positions, Cache& cache) {
    const auto parts = projected(x);
    const auto query = positions.rotate(normed(q_norm, split_heads(parts[0], shape.heads)));
    const bool is_prompt = cache.empty();
    cache.append(positions.rotate(normed(k_norm, split_heads(parts[1], shape.key_heads))),
                 split_heads(parts[2], shape.key_heads));
    const bool native = shape.native_groups && !positions.visible;
    const auto times = native ? 1 : shape.heads / shape.key_heads;
    return o(join_heads(at::scaled_dot_product_attention(
        query, repeated(cache.keys, times), repeated(cache.values, times), positions.visible,
        /*dropout_p=*/0, /*is_causal=*/is_prompt && !positions.visible, /*scale=*/std::nullopt,
        /*enable_gqa=*/native && shape.heads > shape.key_heads)));
  }

  /// Returns the queries, keys and values of all heads: [N, L, heads * D] each.
  std::array<torch::Tensor, 3> projected(const torch::Tensor& x) {
    if (!qkv) return {q(x), k(x), v(x)};
    const auto all = qkv(x);
    const auto keys = shape.query_width(), values = keys + shape.key_width();
    return {all.slice(-1, 0, keys), all.slice(-1, keys, values), all.slice(-1, values)};
  }

  torch::Tensor gated(const torch::Tensor& x) {
    if (!gate_up) return activate(shape.act, gate(x)) * up(x);
    const auto halves = gate_up(x).chunk(2, -1);
    return halves[1] * activate(shape.act, halves[0]);
  }
};
TORCH_MODULE(DecoderLayer);

/// A prompt's step: token ids [N, prompt] → (logits [N, prompt, vocabulary], keys and values, each [N, layers, key
/// heads, prompt, D]). A step that decodes: token ids [N, 1], keys and values [N, layers, key heads, cached, D] → the
/// same for 1 word and cached + 1 places. A layer is made from the shape, and is called as a DecoderLayer.
template <class Layer>
class DecoderStepOf : public Model {
 public:
  DecoderStepOf(const DecoderShape& shape, bool decodes)
      : shape_(shape), decodes_(decodes), words_(shape.vocabulary, shape.width), norm_(shape.norm(shape.width)) {
    if (shape.tied) {
      register_module("lm_head", tied(words_->weight));
    } else {
      head_ = register_module("lm_head", linear_without_bias(shape.width, shape.vocabulary));
    }
    if (shape.gemma)
      words_scale_ = words_->register_buffer(
          "embed_scale", torch::tensor(std::sqrt(static_cast<double>(shape.width)), torch::kFloat32));
    for (int64_t i = 0; i < shape.layers; ++i) layers_.push_back(Layer(shape));
    auto rotary = std::make_shared<nn::Module>("rotary_emb");
    const bool two_kinds = shape.local_theta != 0;
    frequencies_ = add_frequencies(*rotary, two_kinds ? "full_attention_" : "", shape.theta);
    local_frequencies_ = two_kinds ? add_frequencies(*rotary, "sliding_attention_", shape.local_theta) : frequencies_;
    register_module("model", group({{"embed_tokens", words_.ptr()},
                                    {"layers", list_of(layers_).ptr()},
                                    {"norm", norm_.ptr()},
                                    {"rotary_emb", rotary}}));
    init_linears_normal(*this, 0.02);
    nn::init::normal_(words_->weight, 0, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    const auto start = decodes_ ? inputs.at(1).size(3) : 0, end = start + ids.size(1);
    auto x = words_(ids);
    if (shape_.gemma) x = x * words_scale_.to(x.scalar_type());
    const auto mask = [&](int64_t window) { return mask_of(visible_keys(start, end, window, ids.options()), x); };
    Positions everywhere{rotation(frequencies_, start, end, x.scalar_type()), std::nullopt};
    if (shape_.adds_mask) everywhere.visible = mask(/*window=*/0);
    auto nearby = everywhere;
    if (shape_.window > 0) nearby = {rotation(local_frequencies_, start, end, x.scalar_type()), mask(shape_.window)};
    Tensors keys, values;
    for (size_t i = 0; i < layers_.size(); ++i) {
      Cache cache;
      const auto layer = static_cast<int64_t>(i);
      if (decodes_) cache = {inputs.at(1).select(1, layer), inputs.at(2).select(1, layer)};
      x = layers_[i](x, shape_.has_window(layer) ? nearby : everywhere, cache);
      keys.push_back(cache.keys);
      values.push_back(cache.values);
    }
    x = norm_(x);
    return std::make_tuple(head_ ? head_(x) : torch::linear(x, words_->weight), torch::stack(keys, 1),
                           torch::stack(values, 1));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto draw = [&](int64_t tokens) {
      return torch::randint(shape_.vocabulary, {options.batch_size, tokens}, torch::kInt64);
    };
    if (!decodes_) return {draw(options.size_of("prompt", shape_.prompt))};
    const std::vector<int64_t> sizes = {options.batch_size, shape_.layers, shape_.key_heads,
                                        options.size_of("cache", shape_.cached), shape_.head_width};
    auto ids = draw(1);
    auto keys = torch::randn(sizes);
    return {ids, keys, torch::randn(sizes)};
  }

  /// Returns the length of the prompt, or of the cache.
  std::vector<ModelDimension> dimensions() const override {
    if (decodes_) return {{"cache", shape_.cached, 2, 2 * shape_.cached, 1}};
    return {{"prompt", shape_.prompt, 2, 2 * shape_.prompt, 1}};
  }

  bool in_state_dict(const std::string& name) const override {
    return !name.ends_with("inv_freq") && !name.ends_with("embed_scale");
  }

 private:
  /// Registers and returns the frequencies of the rotation.
  torch::Tensor add_frequencies(nn::Module& rotary, const std::string& prefix, double theta) const {
    const auto rotated = static_cast<int64_t>(static_cast<double>(shape_.head_width) * shape_.rotary_part);
    const auto half = torch::arange(0, rotated, 2, torch::kFloat32) / static_cast<double>(rotated);
    auto frequencies = 1.0 / torch::pow(theta, half);
    if (shape_.yarn_factor > 0) frequencies = stretched(frequencies, theta, shape_.yarn_factor, shape_.trained_on);
    rotary.register_buffer(prefix + "inv_freq", frequencies);
    rotary.register_buffer(prefix + "original_inv_freq", frequencies.clone());
    return frequencies;
  }

  /// Computes the rotation in float32, or in float64 for a float64 model.
  Rotation rotation(const torch::Tensor& frequencies, int64_t begin, int64_t end, torch::Dtype dtype) const {
    const auto wide = frequencies.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
    const auto places = torch::arange(begin, end, frequencies.options().dtype(wide));
    const auto angles = (places.unsqueeze(1) * frequencies.to(wide)).repeat({1, 2});
    const auto scaled = [&](const torch::Tensor& x) { return shape_.rotary_scale == 1 ? x : x * shape_.rotary_scale; };
    return {scaled(angles.cos()).to(dtype), scaled(angles.sin()).to(dtype)};
  }

  /// Returns which keys [0, end) the queries [begin, end) attend to: all before them, or those in a window.
  static torch::Tensor visible_keys(int64_t begin, int64_t end, int64_t window, const torch::TensorOptions& options) {
    const auto queries = torch::arange(begin, end, options).unsqueeze(1), keys = torch::arange(end, options);
    const auto earlier = keys.le(queries);
    return window > 0 ? earlier.logical_and(keys.gt(queries - window)) : earlier;
  }

  /// Returns Positions::visible as a mask for scores of the dtype of `x`.
  torch::Tensor mask_of(const torch::Tensor& visible, const torch::Tensor& x) const {
    if (!shape_.adds_mask) return visible;
    return torch::zeros(visible.sizes(), x.options())
        .masked_fill(visible.logical_not(), -std::numeric_limits<double>::infinity());
  }

  DecoderShape shape_;
  bool decodes_;
  nn::Embedding words_;
  RmsNorm norm_;
  nn::Linear head_{nullptr};
  std::vector<Layer> layers_;
  torch::Tensor words_scale_, frequencies_, local_frequencies_;
};
using DecoderStep = DecoderStepOf<DecoderLayer>;

/// Returns the mini preset: small sizes, and otherwise the full preset.
constexpr DecoderShape mini_decoder(const DecoderShape& full) {
  auto mini = full;
  mini.vocabulary = 1000;
  mini.width = 64;
  mini.layers = 2;
  mini.heads = 4;
  mini.key_heads = 2;
  mini.head_width = 16;
  mini.feed_forward = 128;
  mini.prompt = 16;
  mini.cached = 15;
  return mini;
}

}  // namespace torchstone
