// LLaMA with a cache of keys and values that each step writes in place: pytorch/benchmark's own `llama`. Paper: Touvron
// et al., "LLaMA: open and efficient foundation language models", 2023. Original: torchbenchmark's llama, restated in
// tests/oracles/restated/llama.py. Token ids [N, 2] below 32, N at most 32 → logits of the next word [N, 32];
// 27,304,448 parameters. As there, the words have positions 1 and 2, attend to all three places of the cache, and
// rotate as complex numbers. The original's mask, which it makes and never uses, is left out. mini: 2 layers of width
// 64, 4 heads, a cache of 16 places.
#include <cmath>
#include <vector>

#include "models/blocks/basic_layers.h"

namespace torchstone::llama_in_place {
namespace {

constexpr int64_t start = 1, tokens = 2, vocabulary = 32, longest_batch = 32;

struct Shape {
  int64_t width, layers, heads, hidden, longest;
  int64_t head_width() const { return width / heads; }
};

/// Rotates x [N, L, heads, D], whose neighbours are real and imaginary parts, by complex turns [1, L, 1, D / 2].
torch::Tensor rotated(const torch::Tensor& x, const torch::Tensor& turns) {
  const auto pairs = torch::view_as_complex(at_least_float32(x).reshape({x.size(0), x.size(1), x.size(2), -1, 2}));
  return torch::view_as_real(pairs * turns).flatten(3).to(x.scalar_type());
}

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Shape& s) : shape(s) {
    const auto add = [&](const char* name) { return register_module(name, linear_without_bias(s.width, s.width)); };
    wq = add("wq");
    wk = add("wk");
    wv = add("wv");
    wo = add("wo");
    // They get no gradient, because the cache is written without one.
    for (auto* weight : {&wk->weight, &wv->weight}) weight->set_requires_grad(false);
    const auto empty = [&] { return torch::zeros({longest_batch, s.longest, s.heads, s.head_width()}); };
    keys = register_buffer("cache_k", empty());
    values = register_buffer("cache_v", empty());
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& turns) {
    const auto heads = [&](const torch::Tensor& y) {
      return y.view({x.size(0), x.size(1), shape.heads, shape.head_width()});
    };
    auto query = heads(wq(x)), key = heads(wk(x));
    const auto value = heads(wv(x));
    query = rotated(query, turns).transpose(1, 2);
    key = rotated(key, turns);
    const auto all_keys = written(keys, key).transpose(1, 2), all_values = written(values, value).transpose(1, 2);
    const auto scores =
        torch::matmul(query, all_keys.transpose(2, 3)) / std::sqrt(static_cast<double>(shape.head_width()));
    const auto shares = at_least_float32(scores).softmax(-1).to(query.scalar_type());
    return wo(torch::matmul(shares, all_values).transpose(1, 2).contiguous().view(x.sizes()));
  }

  Shape shape;
  nn::Linear wq{nullptr}, wk{nullptr}, wv{nullptr}, wo{nullptr};
  torch::Tensor keys, values;

 private:
  /// Writes x [N, L, heads, D] into a cache, and returns the cache from its first place to the last one written.
  static torch::Tensor written(const torch::Tensor& cache, const torch::Tensor& x) {
    const auto end = start + x.size(1);
    const auto rows = cache.slice(0, 0, x.size(0));
    rows.slice(1, start, end).copy_(x.detach());  // a capture keeps this, but no scope without gradients
    return cache.slice(0, 0, x.size(0)).slice(1, 0, end).to(x.scalar_type());
  }
};
TORCH_MODULE(Attention);

struct LayerImpl : nn::Module {
  explicit LayerImpl(const Shape& s)
      : attention(register_module("attention", Attention(s))),
        attention_norm(register_module("attention_norm", RmsNorm(s.width, 1e-5))),
        ffn_norm(register_module("ffn_norm", RmsNorm(s.width, 1e-5))),
        w1(linear_without_bias(s.width, s.hidden)),
        w2(linear_without_bias(s.hidden, s.width)),
        w3(linear_without_bias(s.width, s.hidden)) {
    register_module("feed_forward", group({{"w1", w1.ptr()}, {"w2", w2.ptr()}, {"w3", w3.ptr()}}));
  }
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& turns) {
    x = x + attention(attention_norm(x), turns);
    const auto y = ffn_norm(x);
    return x + w2(torch::silu(w1(y)) * w3(y));
  }

  Attention attention;
  RmsNorm attention_norm, ffn_norm;
  nn::Linear w1, w2, w3;
};
TORCH_MODULE(Layer);

class LlamaInPlace : public Model {
 public:
  explicit LlamaInPlace(const Shape& s)
      : words_(register_module("tok_embeddings", nn::Embedding(vocabulary, s.width))),
        norm_(register_module("norm", RmsNorm(s.width, 1e-5))),
        output_(register_module("output", linear_without_bias(s.width, vocabulary))) {
    for (int64_t i = 0; i < s.layers; ++i) layers_.push_back(Layer(s));
    register_module("layers", list_of(layers_));
    const auto wavelengths =
        torch::pow(10000.0, torch::arange(0, s.head_width(), 2, torch::kFloat32) / static_cast<double>(s.head_width()));
    const auto angles = torch::outer(torch::arange(2 * s.longest), 1.0 / wavelengths);
    turns_ = torch::stack({angles.cos(), angles.sin()}, -1);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    auto x = words_(ids);
    turns_ = turns_.to(x.device(), at_least_float32(x).scalar_type());
    const auto turns = torch::view_as_complex(turns_.slice(0, start, start + ids.size(1))).unsqueeze(1).unsqueeze(0);
    for (auto& layer : layers_) x = layer(x, turns);
    return at_least_float32(output_(norm_(x).select(1, -1)));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::randint(vocabulary, {options.batch_size, tokens}, torch::kInt64)};
  }

  bool in_state_dict(const std::string& name) const override {
    return !name.ends_with("cache_k") && !name.ends_with("cache_v");
  }

 private:
  nn::Embedding words_;
  RmsNorm norm_;
  nn::Linear output_;
  std::vector<Layer> layers_;
  torch::Tensor turns_;  ///< real and imaginary part of each position's turns; no buffer, so that it stays float32
};

TORCHSTONE_MODEL(
    llama, .family = "llama_in_place", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 27'304'448,
    .make = by_preset<LlamaInPlace>(Shape{.width = 512, .layers = 8, .heads = 8, .hidden = 1536, .longest = 1024},
                                    Shape{.width = 64, .layers = 2, .heads = 4, .hidden = 192, .longest = 16}));

}  // namespace
}  // namespace torchstone::llama_in_place
