// LLaMA with a cache of keys and values, as two models: a prompt that fills the cache, and one more word that uses
// it. Paper: Touvron et al., "LLaMA: open and efficient foundation language models", 2023; rotary positions: Su et al.,
// "RoFormer", 2021; grouped queries: Ainslie et al., 2023. Original: transformers.LlamaForCausalLM with its
// DynamicCache, in the sizes of pytorch/benchmark's llama; 60,039,680 parameters. llama_prefill: token ids [N, 32] →
// (logits [N, 32, 32000], keys and values, each [N, layers, heads, 32, D]). llama_decode: token ids [N, 1], keys and
// values [N, layers, heads, 127, D] → the same for 1 word and 128 places. mini: 2 layers of width 64, 4 query heads on
// 2 key heads, 1000 words, 16 tokens.
#include "models/blocks/transformer.h"

namespace torchstone::llama {
namespace {

struct LlamaShape {
  int64_t vocabulary = 32000, width = 512, layers = 8, heads = 8, key_heads = 8, feed_forward = 1536, prompt = 32,
          cached = 127;
  int64_t head_width() const { return width / heads; }
};

/// Cosines and sines of each position's rotation: [L, D] each.
struct Rotation {
  torch::Tensor cosines, sines;
  /// Rotates x [N, heads, L, D].
  torch::Tensor operator()(const torch::Tensor& x) const {
    const auto halves = x.chunk(2, -1);
    return x * cosines + torch::cat({-halves[1], halves[0]}, -1) * sines;
  }
};

/// Repeats each key head for several query heads.
torch::Tensor repeated(const torch::Tensor& x, int64_t times) {
  if (times == 1) return x;
  return x.unsqueeze(2).expand({-1, -1, times, -1, -1}).reshape({x.size(0), x.size(1) * times, x.size(2), x.size(3)});
}

/// Keys and values of one layer, or of all of them: [N, (layers,) key heads, positions, D]; undefined when empty.
struct Cache {
  torch::Tensor keys, values;
};

struct LlamaLayerImpl : nn::Module {
  explicit LlamaLayerImpl(const LlamaShape& shape)
      : q(linear_without_bias(shape.width, shape.width)),
        k(linear_without_bias(shape.width, shape.key_heads * shape.head_width())),
        v(linear_without_bias(shape.width, shape.key_heads * shape.head_width())),
        o(linear_without_bias(shape.width, shape.width)),
        gate(linear_without_bias(shape.width, shape.feed_forward)),
        up(linear_without_bias(shape.width, shape.feed_forward)),
        down(linear_without_bias(shape.feed_forward, shape.width)),
        before_attention(register_module("input_layernorm", RmsNorm(shape.width))),
        before_mlp(register_module("post_attention_layernorm", RmsNorm(shape.width))),
        heads(shape.heads),
        key_heads(shape.key_heads) {
    register_module("self_attn",
                    group({{"q_proj", q.ptr()}, {"k_proj", k.ptr()}, {"v_proj", v.ptr()}, {"o_proj", o.ptr()}}));
    register_module("mlp", group({{"gate_proj", gate.ptr()}, {"up_proj", up.ptr()}, {"down_proj", down.ptr()}}));
  }
  /// Appends this layer's keys and values to `cache`.
  torch::Tensor forward(torch::Tensor x, const Rotation& rotate, Cache& cache) {
    const auto normed = before_attention(x);
    const auto query = rotate(split_heads(q(normed), heads));
    const auto append = [](torch::Tensor& old, const torch::Tensor& more) {
      old = old.defined() ? torch::cat({old, more}, 2) : more;
    };
    const bool is_prompt = !cache.keys.defined();
    append(cache.keys, rotate(split_heads(k(normed), key_heads)));
    append(cache.values, split_heads(v(normed), key_heads));
    const auto times = heads / key_heads;
    const auto mixed =
        at::scaled_dot_product_attention(query, repeated(cache.keys, times), repeated(cache.values, times),
                                         /*attn_mask=*/{}, /*dropout_p=*/0, /*is_causal=*/is_prompt);
    x = x + o(join_heads(mixed));
    const auto y = before_mlp(x);
    return x + down(torch::silu(gate(y)) * up(y));
  }
  nn::Linear q, k, v, o, gate, up, down;
  RmsNorm before_attention, before_mlp;
  int64_t heads, key_heads;
};
TORCH_MODULE(LlamaLayer);

class Llama : public Model {
 public:
  Llama(const LlamaShape& shape, bool decodes)
      : shape_(shape),
        decodes_(decodes),
        words_(shape.vocabulary, shape.width),
        norm_(shape.width),
        head_(register_module("lm_head", linear_without_bias(shape.width, shape.vocabulary))) {
    for (int64_t i = 0; i < shape.layers; ++i) layers_.push_back(LlamaLayer(shape));
    const auto half =
        torch::arange(0, shape.head_width(), 2, torch::kFloat32) / static_cast<double>(shape.head_width());
    auto rotary = std::make_shared<nn::Module>("rotary_emb");
    frequencies_ = rotary->register_buffer("inv_freq", 1.0 / torch::pow(10000.0, half));
    rotary->register_buffer("original_inv_freq", frequencies_.clone());
    register_module("model", group({{"embed_tokens", words_.ptr()},
                                    {"layers", list_of(layers_).ptr()},
                                    {"norm", norm_.ptr()},
                                    {"rotary_emb", rotary}}));
    init_linears_normal(*this, 0.02);
    nn::init::normal_(words_->weight, 0, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    const auto start = decodes_ ? inputs.at(1).size(3) : 0;
    auto x = words_(ids);
    const auto rotate = rotation(start, start + ids.size(1), x.scalar_type());
    Tensors keys, values;
    for (size_t i = 0; i < layers_.size(); ++i) {
      Cache cache;
      const auto layer = static_cast<int64_t>(i);
      if (decodes_) cache = {inputs.at(1).select(1, layer), inputs.at(2).select(1, layer)};
      x = layers_[i](x, rotate, cache);
      keys.push_back(cache.keys);
      values.push_back(cache.values);
    }
    return std::make_tuple(head_(norm_(x)), torch::stack(keys, 1), torch::stack(values, 1));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto draw = [&](int64_t tokens) {
      return torch::randint(shape_.vocabulary, {options.batch_size, tokens}, torch::kInt64);
    };
    if (!decodes_) return {draw(options.size_of("prompt", shape_.prompt))};
    const std::vector<int64_t> sizes = {options.batch_size, shape_.layers, shape_.key_heads,
                                        options.size_of("cache", shape_.cached), shape_.head_width()};
    auto ids = draw(1);
    auto keys = torch::randn(sizes);
    return {ids, keys, torch::randn(sizes)};
  }

  /// Returns the length of the prompt, or of the cache.
  std::vector<ModelDimension> dimensions() const override {
    if (decodes_) return {{"cache", shape_.cached, 2, 2 * shape_.cached, 1}};
    return {{"prompt", shape_.prompt, 2, 2 * shape_.prompt, 1}};
  }

  bool in_state_dict(const std::string& name) const override { return !name.ends_with("inv_freq"); }

 private:
  /// Computes the rotation in float32, or in float64 for a float64 model.
  Rotation rotation(int64_t begin, int64_t end, torch::Dtype dtype) const {
    const auto wide = frequencies_.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
    const auto places = torch::arange(begin, end, frequencies_.options().dtype(wide));
    const auto angles = (places.unsqueeze(1) * frequencies_.to(wide)).repeat({1, 2});
    return {angles.cos().to(dtype), angles.sin().to(dtype)};
  }

  LlamaShape shape_;
  bool decodes_;
  nn::Embedding words_;
  RmsNorm norm_;
  nn::Linear head_;
  std::vector<LlamaLayer> layers_;
  torch::Tensor frequencies_;
};

auto make(bool decodes) {
  const LlamaShape mini{.vocabulary = 1000,
                        .width = 64,
                        .layers = 2,
                        .heads = 4,
                        .key_heads = 2,
                        .feed_forward = 128,
                        .prompt = 16,
                        .cached = 15};
  return by_preset<Llama>(std::tuple(LlamaShape{}, decodes), std::tuple(mini, decodes));
}

TORCHSTONE_MODEL(llama_prefill, .family = "llama", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 60'039'680, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(llama_decode, .family = "llama", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 60'039'680, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::llama
