// T5: encoder and decoder without biases, whose attention adds a learned value for each bucket of distances.
// Paper: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", 2019.
// Original: transformers.T5ForConditionalGeneration; 60,506,624, 222,903,552 (hf_T5_base) and 737,668,096 (hf_T5_large)
// parameters; and transformers.MT5ForConditionalGeneration, 172,119,424 parameters, 128 words of 250112. T5Small runs
// as in upstream's huggingface.py: token ids [N, 1024], the same ids for the decoder, and labels → loss, logits [N,
// 1024, 32128] and the encoder's last state [N, 1024, 512]. hf_T5 runs as in torchbench.py: in inference 2048 tokens
// (on the CPU 512) and the decoder's, without labels and loss; in training 1024 tokens and labels, from which the
// decoder's tokens are made. hf_T5_base is wider and deeper, and has 2048 tokens on the CPU too; hf_T5_large has 512.
// mini: 2 + 2 layers of width 64, 1000 words, 32 tokens.
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::t5 {
namespace {

struct T5Shape {
  int64_t vocabulary = 32128, width = 512, layers = 6, heads = 8, head_width = 64, feed_forward = 2048, tokens = 0,
          longest = tokens;
  bool is_mt5 = false;  ///< gates the feed-forward parts and does not scale the last states
};
constexpr double dropout_rate = 0.1;
constexpr int64_t bucket_count = 32;
constexpr double max_distance = 128;  // this and all larger distances share a bucket

/// Returns the bucket of each distance from a query (row) to a key (column). Short distances have their own buckets,
/// long ones share buckets by their logarithm. Each direction has half of the buckets. In a decoder, which only attends
/// backwards, one direction has all.
torch::Tensor distance_buckets(int64_t queries, int64_t keys, bool both_directions,
                               const torch::TensorOptions& options) {
  auto apart = torch::arange(keys, options).unsqueeze(0) - torch::arange(queries, options).unsqueeze(1);
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
  T5AttentionImpl(const T5Shape& shape, bool has_distances) : heads(shape.heads) {
    const auto inner = shape.heads * shape.head_width;
    q = register_module("q", linear_without_bias(shape.width, inner));
    k = register_module("k", linear_without_bias(shape.width, inner));
    v = register_module("v", linear_without_bias(shape.width, inner));
    o = register_module("o", linear_without_bias(inner, shape.width));
    if (has_distances) distances = register_module("relative_attention_bias", nn::Embedding(bucket_count, shape.heads));
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& source, const std::optional<torch::Tensor>& bias) {
    const AttentionRule rule{.dropout = active_rate(dropout), .bias = bias, .scale = 1.0};
    return o(attention(q(x), k(source), v(source), heads, rule));
  }
  int64_t heads;
  nn::Linear q{nullptr}, k{nullptr}, v{nullptr}, o{nullptr};
  nn::Embedding distances{nullptr};
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(T5Attention);

/// x + dropout(body(norm(x))) for each of self-attention, attention to the encoder (in a decoder) and feed-forward.
struct T5LayerImpl : nn::Module {
  T5LayerImpl(const T5Shape& shape, bool decodes, bool has_distances)
      : self(shape, has_distances),
        wi(linear_without_bias(shape.width, shape.feed_forward)),
        wo(linear_without_bias(shape.feed_forward, shape.width)) {
    nn::ModuleList parts;
    const auto add = [&](const char* name, const std::shared_ptr<nn::Module>& body) {
      norms.push_back(RmsNorm(shape.width));
      parts->push_back(group({{name, body}, {"layer_norm", norms.back().ptr()}}));
    };
    add("SelfAttention", self.ptr());
    if (decodes) {
      cross = T5Attention(shape, false);
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
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& source, const torch::Tensor& bias) {
    const auto normed = norms[0](x);
    x = x + dropout(self(normed, normed, bias));
    if (cross) x = x + dropout(cross(norms[1](x), source, std::nullopt));
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
  T5StackImpl(const T5Shape& shape, const nn::Embedding& embedding, bool decoder) : words(embedding), decodes(decoder) {
    for (int64_t i = 0; i < shape.layers; ++i) layers.push_back(T5Layer(shape, decodes, i == 0));
    register_module("embed_tokens", words);
    register_module("block", list_of(layers));
  }
  /// `source` is the encoder's output, for a decoder.
  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& source) {
    const auto length = ids.size(1);
    const auto buckets = distance_buckets(length, length, !decodes, ids.options());
    auto bias = layers[0]->self->distances(buckets).permute({2, 0, 1}).unsqueeze(0);
    if (decodes) {
      const auto ahead = torch::ones({length, length}, ids.options().dtype(torch::kBool)).triu(1);
      bias = bias.masked_fill(ahead, -std::numeric_limits<double>::infinity());
    }
    auto x = dropout(words(ids));
    for (auto& layer : layers) x = layer(x, source, bias);
    return dropout(norm(x));
  }
  nn::Embedding words;
  bool decodes;
  std::vector<T5Layer> layers;
  RmsNorm norm = register_module("final_layer_norm", RmsNorm(words->options.embedding_dim()));
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(T5Stack);

/// A task with one input requires labels, from which the decoder's input is made.
class T5 : public TokenModel {
 public:
  T5(const T5Shape& shape, Harness harness, size_t inputs)
      : TokenModel({shape.vocabulary, shape.tokens, shape.longest, Labels::words, harness, inputs}),
        words_(register_module("shared", nn::Embedding(shape.vocabulary, shape.width))),
        encoder_(register_module("encoder", T5Stack(shape, words_, false))),
        decoder_(register_module("decoder", T5Stack(shape, words_, true))) {
    register_module("lm_head", tied(words_->weight));
    if (!shape.is_mt5) scale_ = std::pow(static_cast<double>(shape.width), -0.5);
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    const auto encoded = encoder_(inputs.at(0), torch::Tensor());
    constexpr int64_t padding = 0;
    auto x = decoder_(task().inputs == 1 ? shifted_right(inputs.at(1), padding, padding) : inputs.at(1), encoded);
    if (scale_) x = x * *scale_;
    return {torch::linear(x, words_->weight), encoded};
  }
  Tensors token_inputs(const ModelOptions& options) const override {
    Tensors inputs{random_words(options)};
    if (task().inputs == 2) inputs.push_back(inputs[0].clone());
    return inputs;
  }

  std::optional<double> scale_;  ///< factor of the states before the head
  nn::Embedding words_;
  T5Stack encoder_, decoder_;
};

constexpr T5Shape mini_shape{.vocabulary = 1000,
                             .width = 64,
                             .layers = 2,
                             .heads = 4,
                             .head_width = 16,
                             .feed_forward = 128,
                             .tokens = 32,
                             .longest = 64};

TORCHSTONE_MODEL(T5Small, .family = "t5", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 60'506'624,
                 .make = by_preset<T5>(std::tuple(T5Shape{.tokens = 1024}, Harness::huggingface, /*inputs=*/2U),
                                       std::tuple(mini_shape, Harness::huggingface, 2U)));

constexpr T5Shape mt5_shape{
    .vocabulary = 250112, .layers = 8, .heads = 6, .feed_forward = 1024, .tokens = 128, .is_mt5 = true};
/// Multilingual T5. Paper: Xue et al., "mT5: a massively multilingual pre-trained text-to-text transformer", 2020.
TORCHSTONE_MODEL(
    MT5ForConditionalGeneration, .family = "t5", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 172'119'424, .make = [](const ModelOptions& options) {
      auto mini = mini_shape;
      mini.is_mt5 = true;
      const auto& shape = options.preset == Preset::full ? mt5_shape : mini;
      return std::make_shared<T5>(shape, Harness::huggingface, /*inputs=*/2);
    });

/// Numbers of words that torchbench.py gives to a model: in training, and in inference on the CPU and elsewhere.
struct TextLengths {
  int64_t training, cpu, other;
};

/// Returns a factory for torchbench.py.
auto make(const T5Shape& full, const TextLengths& lengths) {
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    const bool training = options.mode == Mode::training;
    auto shape = options.preset == Preset::full ? full : mini_shape;
    if (options.preset == Preset::full)
      shape.tokens = shape.longest = training                  ? lengths.training
                                     : options.device == "cpu" ? lengths.cpu
                                                               : lengths.other;
    return std::make_shared<T5>(shape, Harness::torchbench, /*inputs=*/training ? 1 : 2);
  };
}

TORCHSTONE_MODEL(hf_T5, .family = "t5", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 60'506'624, .make = make(T5Shape{}, {1024, 512, 2048}));
TORCHSTONE_MODEL(hf_T5_base, .family = "t5", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 222'903'552,
                 .make = make({.width = 768, .layers = 12, .heads = 12, .feed_forward = 3072}, {1024, 2048, 2048}));
TORCHSTONE_MODEL(hf_T5_large, .family = "t5", .suites = {"torchbench"}, .train_batch = 2, .eval_batch = 1,
                 .parameters = 737'668'096,
                 .make = make({.width = 1024, .layers = 24, .heads = 16, .feed_forward = 4096}, {512, 512, 512}));

}  // namespace
}  // namespace torchstone::t5
