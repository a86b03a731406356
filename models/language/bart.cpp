// BART: an encoder and a decoder with learned positions, or the decoder alone; PLBART scales its words, and mBART
// normalises before each part of a layer instead of after it. Papers: Lewis et al., "BART: denoising
// sequence-to-sequence pre-training", 2019; Ahmad et al., "Unified pre-training for program understanding and
// generation", 2021; Liu et al., "Multilingual denoising pre-training for neural machine translation", 2020.
// Original: transformers' Bart, PLBart and MBart, each as ForConditionalGeneration and ForCausalLM; the latter without
// the attention to an encoder, which no input reaches. Token ids [N, 1024], the decoder's (with an encoder) and labels
// → loss, logits [N, 1024, vocabulary] and the encoder's last state; 406,291,456 and 203,678,720 (Bart), 139,220,736
// and 81,720,576 (PLBart), 406,295,552 and 203,680,768 (MBart) parameters. mini: layers of width 64, 2 in each half,
// 1000 words, 32 tokens.
#include <cmath>

#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::bart {
namespace {

struct BartShape {
  int64_t vocabulary = 50265, width = 1024, layers = 12, heads = 16, feed_forward = 4096, positions = 1024,
          tokens = 1024;
  double attention_dropout = 0;
  bool scales_words = false, norm_first = false;
};
constexpr double dropout_rate = 0.1;
constexpr int64_t padding_word = 1, last_word = 2, first_position = 2;

struct BartAttentionImpl : nn::Module {
  explicit BartAttentionImpl(const BartShape& shape) : heads(shape.heads) {
    const auto add = [&](const char* name) { return register_module(name, nn::Linear(shape.width, shape.width)); };
    k = add("k_proj");
    v = add("v_proj");
    q = add("q_proj");
    out = add("out_proj");
    dropout = register_module("dropout", nn::Dropout(shape.attention_dropout));
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& source, bool causal) {
    return out(attention(q(x), k(source), v(source), heads, {.dropout = active_rate(dropout), .causal = causal}));
  }
  int64_t heads;
  nn::Linear k{nullptr}, v{nullptr}, q{nullptr}, out{nullptr};
  nn::Dropout dropout{nullptr};
};
TORCH_MODULE(BartAttention);

/// Self-attention, attention to the encoder (in its decoder) and feed-forward, each added to x and normalised.
struct BartLayerImpl : nn::Module {
  BartLayerImpl(const BartShape& shape, bool is_causal, bool crosses)
      : causal(is_causal), norm_first(shape.norm_first) {
    const auto add_norm = [&](const char* name) { return register_module(name, layer_norm(shape.width, 1e-5)); };
    self = register_module("self_attn", BartAttention(shape));
    self_norm = add_norm("self_attn_layer_norm");
    if (crosses) {
      cross = register_module("encoder_attn", BartAttention(shape));
      cross_norm = add_norm("encoder_attn_layer_norm");
    }
    fc1 = register_module("fc1", nn::Linear(shape.width, shape.feed_forward));
    fc2 = register_module("fc2", nn::Linear(shape.feed_forward, shape.width));
    last_norm = add_norm("final_layer_norm");
  }
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& source) {
    x = add(x, self_norm, [&](const torch::Tensor& y) { return self(y, y, causal); });
    if (cross) x = add(x, cross_norm, [&](const torch::Tensor& y) { return cross(y, source, false); });
    return add(x, last_norm, [&](const torch::Tensor& y) { return fc2(torch::gelu(fc1(y))); });
  }
  template <class Part>
  torch::Tensor add(const torch::Tensor& x, nn::LayerNorm& norm, Part part) {
    if (norm_first) return x + dropout(part(norm(x)));
    return norm(x + dropout(part(x)));
  }
  bool causal, norm_first;
  BartAttention self{nullptr}, cross{nullptr};
  nn::LayerNorm self_norm{nullptr}, cross_norm{nullptr}, last_norm{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(BartLayer);

struct BartStackImpl : nn::Module {
  BartStackImpl(const BartShape& shape, const nn::Embedding& embedding, bool decodes, bool crosses)
      : scale(shape.scales_words ? std::sqrt(static_cast<double>(shape.width)) : 1),
        words(register_module("embed_tokens", embedding)),
        positions(register_module("embed_positions", nn::Embedding(shape.positions + first_position, shape.width))),
        first_norm(register_module("layernorm_embedding", layer_norm(shape.width, 1e-5))) {
    for (int64_t i = 0; i < shape.layers; ++i) layers.push_back(BartLayer(shape, decodes, crosses));
    register_module("layers", list_of(layers));
    if (shape.norm_first) last_norm = register_module("layer_norm", layer_norm(shape.width, 1e-5));
  }
  /// `source` is the encoder's output, for its decoder.
  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& source) {
    const auto places = torch::arange(first_position, first_position + ids.size(1), ids.options());
    auto x = dropout(first_norm(words(ids) * scale + positions(places)));
    for (auto& layer : layers) x = layer(x, source);
    return last_norm ? last_norm(x) : x;
  }
  double scale;
  nn::Embedding words, positions;
  nn::LayerNorm first_norm, last_norm{nullptr};
  std::vector<BartLayer> layers;
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(BartStack);

class Bart : public TokenModel {
 public:
  Bart(const BartShape& shape, bool has_encoder)
      : TokenModel({.vocabulary = shape.vocabulary,
                    .tokens = shape.tokens,
                    .longest = shape.positions,
                    .inputs = has_encoder ? 2U : 1U}),
        words_(nn::EmbeddingOptions(shape.vocabulary, shape.width).padding_idx(padding_word)),
        decoder_(shape, words_, /*decodes=*/true, has_encoder) {
    auto model = group({});
    if (has_encoder) {
      encoder_ = BartStack(shape, words_, /*decodes=*/false, /*crosses=*/false);
      model->register_module("shared", words_);
      model->register_module("encoder", encoder_);
      bias_ = register_buffer("final_logits_bias", torch::zeros({1, shape.vocabulary}));
    }
    model->register_module("decoder", decoder_);
    register_module("model", model);
    register_module("lm_head", tied(words_->weight));
    init_linears_normal(*this, 0.02);
    init_embeddings_normal(*this, 0.02);
    torch::NoGradGuard no_grad;
    words_->weight[padding_word].zero_();
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    if (!encoder_) return {torch::linear(decoder_(inputs.at(0), torch::Tensor()), words_->weight)};
    const auto encoded = encoder_(inputs.at(0), torch::Tensor());
    return {torch::linear(decoder_(inputs.at(1), encoded), words_->weight) + bias_, encoded};
  }
  /// Upstream ends each text with the last word.
  Tensors token_inputs(const ModelOptions& options) const override {
    const auto ids = random_words(options);
    ids.select(1, -1).fill_(last_word);
    if (!encoder_) return {ids};
    return {ids, ids.clone()};
  }

  nn::Embedding words_;
  BartStack encoder_{nullptr}, decoder_;
  torch::Tensor bias_;
};

auto make(const BartShape& full, bool has_encoder) {
  auto mini = full;
  mini.vocabulary = 1000;
  mini.width = 64;
  mini.layers = 2;
  mini.heads = 4;
  mini.feed_forward = 128;
  mini.positions = 64;
  mini.tokens = 32;
  return by_preset<Bart>(std::tuple(full, has_encoder), std::tuple(mini, has_encoder));
}

constexpr BartShape bart_shape{}, mbart_shape{.norm_first = true},
    plbart_shape{.vocabulary = 50005,
                 .width = 768,
                 .layers = 6,
                 .heads = 12,
                 .feed_forward = 3072,
                 .attention_dropout = 0.1,
                 .scales_words = true};

TORCHSTONE_MODEL(BartForConditionalGeneration, .family = "bart", .suites = {"huggingface"}, .train_batch = 4,
                 .eval_batch = 4, .parameters = 406'291'456, .make = make(bart_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(BartForCausalLM, .family = "bart", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 203'678'720, .make = make(bart_shape, /*has_encoder=*/false));
TORCHSTONE_MODEL(PLBartForConditionalGeneration, .family = "bart", .suites = {"huggingface"}, .train_batch = 8,
                 .eval_batch = 8, .parameters = 139'220'736, .make = make(plbart_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(PLBartForCausalLM, .family = "bart", .suites = {"huggingface"}, .train_batch = 16, .eval_batch = 16,
                 .parameters = 81'720'576, .make = make(plbart_shape, /*has_encoder=*/false));
TORCHSTONE_MODEL(MBartForConditionalGeneration, .family = "bart", .suites = {"huggingface"}, .train_batch = 4,
                 .eval_batch = 4, .parameters = 406'295'552, .make = make(mbart_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(MBartForCausalLM, .family = "bart", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 203'680'768, .make = make(mbart_shape, /*has_encoder=*/false));

}  // namespace
}  // namespace torchstone::bart
