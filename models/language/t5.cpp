// T5: encoder and decoder without biases, whose attention adds a learned value for each bucket of distances.
// Paper: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", 2019.
// Original: transformers.T5ForConditionalGeneration; 60,506,624 and 222,903,552 (hf_T5_base) parameters. T5Small runs
// as in upstream's huggingface.py: token ids [N, 1024], the same ids for the decoder, and labels → loss, logits [N,
// 1024, 32128] and the encoder's last state [N, 1024, 512]. hf_T5 runs as in torchbench.py: in inference 2048 tokens
// (on the CPU 512) and the decoder's, without labels and loss; in training 1024 tokens and labels, from which the
// decoder's tokens are made. hf_T5_base is wider and deeper, and has 2048 tokens on the CPU too. mini: 2 + 2 layers of
// width 64, 1000 words, 32 tokens.
#include <cmath>

#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::t5 {
namespace {

struct T5Shape {
  int64_t vocabulary = 32128, width = 512, layers = 6, heads = 8, head_width = 64, feed_forward = 2048, tokens = 0,
          longest = tokens;
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
    add("DenseReluDense", group({{"wi", wi.ptr()}, {"wo", wo.ptr()}}).ptr());
    register_module("layer", parts);
  }
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& source, const torch::Tensor& bias) {
    const auto normed = norms[0](x);
    x = x + dropout(self(normed, normed, bias));
    if (cross) x = x + dropout(cross(norms[1](x), source, std::nullopt));
    return x + dropout(wo(dropout(torch::relu(wi(norms.back()(x))))));
  }
  T5Attention self, cross{nullptr};
  nn::Linear wi, wo;
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

/// Returns the decoder's input for these labels: each position has the previous label, the first the padding word.
torch::Tensor shifted_right(const torch::Tensor& labels) {
  constexpr int64_t padding_word = 0, ignored_label = -100;
  const auto ids = torch::constant_pad_nd(labels, {1, -1}, padding_word);
  return ids.masked_fill(ids.eq(ignored_label), padding_word);
}

/// A task with one input requires labels, from which the decoder's input is made.
class T5 : public TokenModel {
 public:
  T5(const T5Shape& shape, Harness harness, size_t inputs)
      : TokenModel({shape.vocabulary, shape.tokens, shape.longest, Labels::words, harness, inputs}),
        scale_(std::pow(static_cast<double>(shape.width), -0.5)),
        words_(register_module("shared", nn::Embedding(shape.vocabulary, shape.width))),
        encoder_(register_module("encoder", T5Stack(shape, words_, false))),
        decoder_(register_module("decoder", T5Stack(shape, words_, true))) {
    register_module("lm_head", tied(words_->weight));
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    const auto encoded = encoder_(inputs.at(0), torch::Tensor());
    const auto x = decoder_(task().inputs == 1 ? shifted_right(inputs.at(1)) : inputs.at(1), encoded) * scale_;
    return {torch::linear(x, words_->weight), encoded};
  }
  Tensors token_inputs(const ModelOptions& options) const override {
    Tensors inputs{random_words(options)};
    if (task().inputs == 2) inputs.push_back(inputs[0].clone());
    return inputs;
  }

  double scale_;
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

/// Returns a factory for torchbench.py, which makes texts on the CPU shorter in inference.
auto make(const T5Shape& full, int64_t tokens_on_cpu) {
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    const bool training = options.mode == Mode::training;
    auto shape = options.preset == Preset::full ? full : mini_shape;
    if (options.preset == Preset::full)
      shape.tokens = shape.longest = training ? 1024 : options.device == "cpu" ? tokens_on_cpu : 2048;
    return std::make_shared<T5>(shape, Harness::torchbench, /*inputs=*/training ? 1 : 2);
  };
}

TORCHSTONE_MODEL(hf_T5, .family = "t5", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 60'506'624, .make = make(T5Shape{}, /*tokens_on_cpu=*/512));
TORCHSTONE_MODEL(hf_T5_base, .family = "t5", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 222'903'552,
                 .make = make({.width = 768, .layers = 12, .heads = 12, .feed_forward = 3072},
                              /*tokens_on_cpu=*/2048));

}  // namespace
}  // namespace torchstone::t5
