// GPT-2: pre-norm decoder with causal attention; a head tied to the words, or one that classifies the last token.
// Paper: Radford et al., "Language models are unsupervised multitask learners", 2019.
// Original: transformers.GPT2LMHeadModel as distilgpt2 and gpt2, and GPT2ForSequenceClassification. Input token ids and
// labels, both [N, 512] → loss and logits [N, 512, 50257] (DistillGPT2); [N, 1024] and [N] → loss and [N, 2]. hf_GPT2
// and hf_GPT2_large run as in torchbench.py: 1024 tokens (hf_GPT2 on the CPU: 256), in training 512 with labels.
// 81,912,576 (DistillGPT2), 124,441,344, 124,439,808 (hf_GPT2) and 774,030,080 (hf_GPT2_large) parameters.
// mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::gpt2 {
namespace {

struct GptShape {
  int64_t vocabulary = 50257, width = 768, layers = 12, heads = 12, positions = 1024, tokens = 1024;
};
constexpr double dropout_rate = 0.1;
constexpr int64_t padding_word_id = 0;  // the classifier searches for the last other word
constexpr int64_t class_count = 2;

/// Returns a linear layer whose weight is stored transposed: [in, out].
Block transposed_linear(int64_t in, int64_t out) {
  Block block;
  const auto weight = block.add("weight", torch::randn({in, out}) * 0.02);
  const auto bias = block.add("bias", torch::zeros({out}));
  return block.running([=](const torch::Tensor& x) {
    const auto flat = torch::addmm(bias, x.view({-1, x.size(-1)}), weight);
    return flat.view({x.size(0), x.size(1), flat.size(1)});
  });
}

Block gpt_layer(const GptShape& shape) {
  const auto width = shape.width;
  Block block;
  auto ln_1 = block.add("ln_1", layer_norm(width, 1e-5)), ln_2 = block.add("ln_2", layer_norm(width, 1e-5));
  auto qkv = transposed_linear(width, 3 * width), attended = transposed_linear(width, width),
       c_fc = transposed_linear(width, 4 * width), c_proj = transposed_linear(4 * width, width);
  auto dropout = block.add("dropout", nn::Dropout(dropout_rate));
  block.add("attn", group({{"c_attn", qkv.ptr()}, {"c_proj", attended.ptr()}}));
  block.add("mlp", group({{"c_fc", c_fc.ptr()}, {"c_proj", c_proj.ptr()}}));
  return block.running([=, heads = shape.heads](torch::Tensor x) mutable {
    const auto parts = qkv(ln_1(x)).chunk(3, -1);
    const AttentionRule rule{.dropout = active_rate(dropout), .causal = true};
    x = x + dropout(attended(attention(parts[0], parts[1], parts[2], heads, rule)));
    return x + dropout(c_proj(activate(Act::tanh_gelu, c_fc(ln_2(x)))));
  });
}

/// The decoder without a head.
class Gpt2 : public TokenModel {
 public:
  Gpt2(const GptShape& shape, Labels labels, Harness harness = Harness::huggingface)
      : TokenModel({shape.vocabulary, shape.tokens, shape.positions, labels, harness}),
        words_(shape.vocabulary, shape.width),
        positions_(shape.positions, shape.width),
        norm_(layer_norm(shape.width, 1e-5)),
        dropout_(dropout_rate) {
    for (int64_t i = 0; i < shape.layers; ++i) layers_.push_back(gpt_layer(shape));
    register_module("transformer", group({{"wte", words_.ptr()},
                                          {"wpe", positions_.ptr()},
                                          {"drop", dropout_.ptr()},
                                          {"h", list_of(layers_).ptr()},
                                          {"ln_f", norm_.ptr()}}));
    init_embeddings_normal(*this, 0.02);
  }

 protected:
  torch::Tensor states(const torch::Tensor& ids) {
    auto x = dropout_(words_(ids) + positions_(torch::arange(ids.size(1), ids.options())));
    for (auto& layer : layers_) x = layer(x);
    return norm_(x);
  }
  const torch::Tensor& words() const { return words_->weight; }

 private:
  nn::Embedding words_, positions_;
  std::vector<Block> layers_;
  nn::LayerNorm norm_;
  nn::Dropout dropout_;
};

class LanguageModel : public Gpt2 {
 public:
  explicit LanguageModel(const GptShape& shape, Harness harness = Harness::huggingface)
      : Gpt2(shape, Labels::next_words, harness) {
    register_module("lm_head", tied(words()));
  }

 private:
  Tensors outputs(const Tensors& inputs) override { return {torch::linear(states(inputs.at(0)), words())}; }
};

class SequenceClassifier : public Gpt2 {
 public:
  explicit SequenceClassifier(const GptShape& shape) : Gpt2(shape, Labels::classes) {
    score_ = register_module("score", linear_without_bias(shape.width, class_count));
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    const auto scores = score_(states(ids));
    const auto places = torch::arange(ids.size(1), ids.options());
    const auto last = (places * ids.ne(padding_word_id).to(torch::kInt64)).argmax(-1);
    return {scores.index({torch::arange(ids.size(0), ids.options()), last})};
  }
  /// Returns class 0 for all, because upstream generates labels below the last class.
  torch::Tensor random_labels(const ModelOptions& options) const override {
    return torch::randint(class_count - 1, {options.batch_size}, torch::kInt64);
  }

  nn::Linear score_{nullptr};
};

constexpr GptShape mini_shape{.vocabulary = 1000, .width = 64, .layers = 2, .heads = 4, .positions = 64, .tokens = 32};

TORCHSTONE_MODEL(DistillGPT2, .family = "gpt2", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 81'912'576,
                 .make = by_preset<LanguageModel>(GptShape{.layers = 6, .tokens = 512}, mini_shape));

/// Returns a factory for torchbench.py: texts of 1024 words in inference, 512 in training.
auto make(const GptShape& full, int64_t tokens_on_cpu) {
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    auto shape = options.preset == Preset::full ? full : mini_shape;
    if (options.preset == Preset::full)
      shape.tokens = options.mode == Mode::training ? 512 : options.device == "cpu" ? tokens_on_cpu : 1024;
    return std::make_shared<LanguageModel>(shape, Harness::torchbench);
  };
}

TORCHSTONE_MODEL(hf_GPT2, .family = "gpt2", .suites = {"torchbench"}, .train_batch = 4, .eval_batch = 1,
                 .parameters = 124'439'808, .make = make({}, /*tokens_on_cpu=*/256));
TORCHSTONE_MODEL(hf_GPT2_large, .family = "gpt2", .suites = {"torchbench"}, .train_batch = 4, .eval_batch = 1,
                 .parameters = 774'030'080,
                 .make = make({.width = 1280, .layers = 36, .heads = 20}, /*tokens_on_cpu=*/1024));
TORCHSTONE_MODEL(GPT2ForSequenceClassification, .family = "gpt2", .suites = {"huggingface"}, .train_batch = 8,
                 .eval_batch = 8, .parameters = 124'441'344,
                 .make = by_preset<SequenceClassifier>(GptShape{}, mini_shape));

}  // namespace
}  // namespace torchstone::gpt2
