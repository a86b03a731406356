// Qwen3.5: a decoder whose layers attend by the gated delta rule (models/blocks/gated_delta_rule.h). Each fourth
// attends to all words before in its place, with a gate, and rotates a quarter of each head. A prompt runs in chunks;
// one more word updates the matrices of the rule and appends its keys and values. Paper: Yang et al., "Qwen3 technical
// report", 2025. Original: transformers.Qwen3_5ForCausalLM without kernels, in the sizes of Qwen3.5-0.8B without the
// encoder of its images; 752,393,024 parameters. Prefill: token ids [N, 128] → (logits [N, 128, 248320], inputs of the
// convolutions [N, 18, 6144, 4], matrices [N, 18, 16, 128, 128], keys and values, each [N, 6, 2, 128, 256]). Decode:
// token ids [N, 1], and these four with 127 places → the same for 1 word and 128 places. The original writes the first
// two into its cache; here they are new tensors. mini: 4 layers of width 64, 4 heads of width 16 on 2 key heads, in the
// delta rule as well, 1000 words, 72 tokens, 15 places.
#include "models/blocks/decoder.h"
#include "models/blocks/gated_delta_rule.h"

namespace torchstone::qwen3_5 {
namespace {

struct Shape {
  int64_t vocabulary, width, layers, heads, key_heads, head_width, feed_forward;
  int64_t rule_keys, rule_values, rule_width;  ///< heads of the delta rule: of keys and of values, and their width
  int64_t prompt, cached;
  int64_t full_every = 4, kernel = 4;
  int64_t keys_width() const { return rule_keys * rule_width; }
  int64_t values_width() const { return rule_values * rule_width; }
  int64_t convolved() const { return 2 * keys_width() + values_width(); }
  int64_t rotated() const { return head_width / 4; }
  bool has_attention(int64_t layer) const { return (layer + 1) % full_every == 0; }
  int64_t full_layers() const { return layers / full_every; }
};

/// State of a layer, undefined before a prompt. A layer with the delta rule keeps the last inputs of its convolution
/// and the matrices [N, value heads, keys, values]. Any other layer keeps its keys and values.
struct Memory {
  torch::Tensor convolved, matrices;
  Cache cache;
};

/// Divides by the root mean square, and multiplies by silu(gate).
struct GatedNormImpl : RmsNormImpl {
  using RmsNormImpl::RmsNormImpl;
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& gate) {
    return (RmsNormImpl::forward(x) * torch::silu(at_least_float32(gate))).to(x.scalar_type());
  }
};
TORCH_MODULE(GatedNorm);

struct DeltaNetImpl : nn::Module {
  explicit DeltaNetImpl(const Shape& s)
      : shape(s),
        conv(register_module("conv1d", CausalConv(s.convolved(), s.kernel, /*has_bias=*/false))),
        qkv(register_module("in_proj_qkv", linear_without_bias(s.width, s.convolved()))),
        z(register_module("in_proj_z", linear_without_bias(s.width, s.values_width()))),
        b(register_module("in_proj_b", linear_without_bias(s.width, s.rule_values))),
        a(register_module("in_proj_a", linear_without_bias(s.width, s.rule_values))),
        out(register_module("out_proj", linear_without_bias(s.values_width(), s.width))),
        norm(register_module("norm", GatedNorm(s.rule_width))),
        dt_bias(register_parameter("dt_bias", torch::ones({s.rule_values}))),
        a_log(register_parameter("A_log", torch::empty({s.rule_values}).uniform_(0.01, 16).log())) {}

  torch::Tensor forward(const torch::Tensor& x, Memory& memory) {
    const auto samples = x.size(0), steps = x.size(1);
    const bool is_prompt = !memory.matrices.defined();
    const auto mixed = qkv(x).transpose(1, 2);
    const auto gate = z(x).reshape({-1, shape.rule_width}), beta = b(x), step = a(x);
    const auto [y, last] = is_prompt ? conv->forward(mixed) : conv->forward(mixed, memory.convolved);
    memory.convolved = last;
    const auto parts =
        y.transpose(1, 2).split_with_sizes({shape.keys_width(), shape.keys_width(), shape.values_width()}, -1);
    const auto by_head = [&](const torch::Tensor& part) {
      return part.reshape({samples, steps, -1, shape.rule_width});
    };
    const auto decay = -at_least_float32(a_log).exp() * torch::softplus(at_least_float32(step) + dt_bias);
    const auto query = for_values(by_head(parts[0])), key = for_values(by_head(parts[1]));
    const GatedDeltaRule rule{normalized(heads_first(query)), normalized(heads_first(key)),
                              heads_first(by_head(parts[2])), heads_first(beta.sigmoid()), heads_first(decay)};
    const auto found = is_prompt ? rule.apply_in_chunks(memory.matrices) : rule.apply_once(memory.matrices);
    const auto values = found.transpose(1, 2).to(x.scalar_type(), /*non_blocking=*/false, /*copy=*/false,
                                                 torch::MemoryFormat::Contiguous);
    return out(norm(values.reshape({-1, shape.rule_width}), gate).reshape({samples, steps, -1}));
  }

  Shape shape;
  CausalConv conv;
  nn::Linear qkv, z, b, a, out;
  GatedNorm norm;
  torch::Tensor dt_bias, a_log;

 private:
  /// Repeats each key head for several value heads.
  torch::Tensor for_values(const torch::Tensor& x) const {
    if (shape.rule_keys == shape.rule_values) return x;
    return x.repeat_interleave(shape.rule_values / shape.rule_keys, 2);
  }

  /// [N, L, heads, …] → [N, heads, L, …], at least float32.
  static torch::Tensor heads_first(const torch::Tensor& x) {
    const auto wide = x.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
    return x.transpose(1, 2).to(wide, /*non_blocking=*/false, /*copy=*/false, torch::MemoryFormat::Contiguous);
  }
};
TORCH_MODULE(DeltaNet);

/// Rotates the first places of each head.
torch::Tensor rotated(const Rotation& rotate, const torch::Tensor& x) {
  const auto places = rotate.cosines.size(-1);
  return torch::cat({rotate(x.slice(-1, 0, places)), x.slice(-1, places)}, -1);
}

RmsNorm norm_of(int64_t width) { return RmsNorm(width, 1e-6, /*weight_less_one=*/true); }

struct AttentionImpl : nn::Module {
  explicit AttentionImpl(const Shape& s)
      : shape(s),
        q(register_module("q_proj", linear_without_bias(s.width, 2 * s.heads * s.head_width))),
        k(register_module("k_proj", linear_without_bias(s.width, s.key_heads * s.head_width))),
        v(register_module("v_proj", linear_without_bias(s.width, s.key_heads * s.head_width))),
        o(register_module("o_proj", linear_without_bias(s.heads * s.head_width, s.width))),
        q_norm(register_module("q_norm", norm_of(s.head_width))),
        k_norm(register_module("k_norm", norm_of(s.head_width))) {}

  torch::Tensor forward(const torch::Tensor& x, const Rotation& rotate, Cache& cache) {
    const auto samples = x.size(0), steps = x.size(1);
    const auto by_head = [&](const torch::Tensor& part) { return part.view({samples, steps, -1, shape.head_width}); };
    const auto halves = q(x).view({samples, steps, -1, 2 * shape.head_width}).chunk(2, -1);
    const auto gate = halves[1].reshape({samples, steps, -1});
    const auto query = rotated(rotate, q_norm(halves[0]).transpose(1, 2));
    const auto key = rotated(rotate, k_norm(by_head(k(x))).transpose(1, 2)), value = by_head(v(x)).transpose(1, 2);
    const bool is_prompt = cache.empty();
    cache.append(key, value);
    const auto read =
        at::scaled_dot_product_attention(query, cache.keys, cache.values, /*attn_mask=*/{}, /*dropout_p=*/0,
                                         /*is_causal=*/is_prompt, /*scale=*/std::nullopt, /*enable_gqa=*/true);
    return o(join_heads(read) * gate.sigmoid());
  }

  Shape shape;
  nn::Linear q, k, v, o;
  RmsNorm q_norm, k_norm;
};
TORCH_MODULE(Attention);

struct LayerImpl : nn::Module {
  LayerImpl(const Shape& s, bool has_attention)
      : before_mixer(register_module("input_layernorm", norm_of(s.width))),
        before_mlp(register_module("post_attention_layernorm", norm_of(s.width))),
        gate(linear_without_bias(s.width, s.feed_forward)),
        up(linear_without_bias(s.width, s.feed_forward)),
        down(linear_without_bias(s.feed_forward, s.width)) {
    if (has_attention) {
      attention = register_module("self_attn", Attention(s));
    } else {
      delta_net = register_module("linear_attn", DeltaNet(s));
    }
    register_module("mlp", group({{"gate_proj", gate.ptr()}, {"up_proj", up.ptr()}, {"down_proj", down.ptr()}}));
  }
  torch::Tensor forward(torch::Tensor x, const Rotation& rotate, Memory& memory) {
    const auto y = before_mixer(x);
    x = x + (attention ? attention(y, rotate, memory.cache) : delta_net(y, memory));
    const auto z = before_mlp(x);
    return x + down(torch::silu(gate(z)) * up(z));
  }
  RmsNorm before_mixer, before_mlp;
  nn::Linear gate, up, down;
  Attention attention{nullptr};
  DeltaNet delta_net{nullptr};
};
TORCH_MODULE(Layer);

class Qwen35 : public Model {
 public:
  Qwen35(const Shape& shape, bool decodes)
      : shape_(shape), decodes_(decodes), words_(shape.vocabulary, shape.width), norm_(norm_of(shape.width)) {
    for (int64_t i = 0; i < shape.layers; ++i) layers_.push_back(Layer(shape, shape.has_attention(i)));
    auto rotary = std::make_shared<nn::Module>("rotary_emb");
    const auto places = torch::arange(0, shape.rotated(), 2, torch::kFloat32) / static_cast<double>(shape.rotated());
    frequencies_ = rotary->register_buffer("inv_freq", 1.0 / torch::pow(1e7, places));
    rotary->register_buffer("original_inv_freq", frequencies_.clone());
    register_module("model", group({{"embed_tokens", words_.ptr()},
                                    {"layers", list_of(layers_).ptr()},
                                    {"norm", norm_.ptr()},
                                    {"rotary_emb", rotary}}));
    register_module("lm_head", tied(words_->weight));
    // The convolutions keep LibTorch's initial weights. The original draws them with a deviation of 0.02 too, which
    // makes matrices so small that an error in them is not detected.
    init_linears_normal(*this, 0.02);
    nn::init::normal_(words_->weight, 0, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    const auto start = decodes_ ? inputs.at(3).size(3) : 0;
    auto x = words_(ids);
    const auto rotate = rotation(start, start + ids.size(1), x.scalar_type());
    Tensors convolved, matrices, keys, values;
    for (auto& layer : layers_) {
      Memory memory;
      const auto ruled = static_cast<int64_t>(convolved.size()), attended = static_cast<int64_t>(keys.size());
      if (decodes_ && layer->attention)
        memory.cache = {inputs.at(3).select(1, attended), inputs.at(4).select(1, attended)};
      if (decodes_ && layer->delta_net) memory = {inputs.at(1).select(1, ruled), inputs.at(2).select(1, ruled), {}};
      x = layer(x, rotate, memory);
      if (layer->attention) {
        keys.push_back(memory.cache.keys);
        values.push_back(memory.cache.values);
      } else {
        convolved.push_back(memory.convolved);
        matrices.push_back(memory.matrices);
      }
    }
    return std::make_tuple(torch::linear(norm_(x), words_->weight), torch::stack(convolved, 1),
                           torch::stack(matrices, 1), torch::stack(keys, 1), torch::stack(values, 1));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto samples = options.batch_size, ruled = shape_.layers - shape_.full_layers();
    const auto ids = torch::randint(shape_.vocabulary, {samples, decodes_ ? 1 : shape_.prompt}, torch::kInt64);
    if (!decodes_) return {ids};
    const std::vector<int64_t> sizes = {samples, shape_.full_layers(), shape_.key_heads,
                                        options.size_of("cache", shape_.cached), shape_.head_width};
    const auto convolved = torch::randn({samples, ruled, shape_.convolved(), shape_.kernel});
    const auto matrices = torch::randn({samples, ruled, shape_.rule_values, shape_.rule_width, shape_.rule_width});
    const auto keys = torch::randn(sizes);
    return {ids, convolved, matrices, keys, torch::randn(sizes)};
  }

  /// Returns the length of the cache. A prompt has none, because its padding depends on its length.
  std::vector<ModelDimension> dimensions() const override {
    if (!decodes_) return {};
    return {{"cache", shape_.cached, 2, 2 * shape_.cached, 1}};
  }

  bool in_state_dict(const std::string& name) const override { return !name.ends_with("inv_freq"); }

 private:
  /// Computes the rotation in float32, or in float64 for a float64 model. The original does so three times, for places
  /// in time and in an image, which are the same for words.
  Rotation rotation(int64_t begin, int64_t end, torch::Dtype dtype) const {
    const auto frequencies = at_least_float32(frequencies_);
    const auto angles = torch::arange(begin, end, frequencies.options()).unsqueeze(1) * frequencies;
    const auto both = [&](const torch::Tensor& x) { return torch::cat({x, x}, -1).to(dtype); };
    return {both(angles.cos()), both(angles.sin())};
  }

  Shape shape_;
  bool decodes_;
  nn::Embedding words_;
  RmsNorm norm_;
  std::vector<Layer> layers_;
  torch::Tensor frequencies_;
};

constexpr Shape full{.vocabulary = 248320,
                     .width = 1024,
                     .layers = 24,
                     .heads = 8,
                     .key_heads = 2,
                     .head_width = 256,
                     .feed_forward = 3584,
                     .rule_keys = 16,
                     .rule_values = 16,
                     .rule_width = 128,
                     .prompt = 128,
                     .cached = 127};
constexpr Shape mini{.vocabulary = 1000,
                     .width = 64,
                     .layers = 4,
                     .heads = 4,
                     .key_heads = 2,
                     .head_width = 16,
                     .feed_forward = 128,
                     .rule_keys = 2,
                     .rule_values = 4,
                     .rule_width = 16,
                     .prompt = 72,
                     .cached = 15};

auto make(bool decodes) { return by_preset<Qwen35>(std::tuple(full, decodes), std::tuple(mini, decodes)); }

TORCHSTONE_MODEL(qwen3_5_prefill, .family = "qwen3_5", .suites = {"huggingface"}, .train_batch = 2, .eval_batch = 2,
                 .parameters = 752'393'024, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(qwen3_5_decode, .family = "qwen3_5", .suites = {"huggingface"}, .train_batch = 2, .eval_batch = 2,
                 .parameters = 752'393'024, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::qwen3_5
