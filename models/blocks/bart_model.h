#pragma once
// The parts of BART and its relatives, under the names of transformers' modules: an encoder and a decoder, or a decoder
// alone.
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone {

/// How the position of a word is embedded.
enum class PositionEmbedding {
  learned,       ///< a row of a table
  frozen_waves,  ///< sines and cosines, kept with the weights but not trained
  waves,         ///< sines and cosines, which are no weights
};

/// Sizes of BART and its relatives. The defaults are bart-large.
struct BartShape {
  int64_t vocabulary = 50265, width = 1024, layers = 12, heads = 16, feed_forward = 4096, positions = 1024,
          tokens = 1024;
  double attention_dropout = 0, inner_dropout = 0;  ///< the latter in the feed-forward parts
  bool scales_words = false, norm_first = false;
  int64_t padding_word = 1;
  std::optional<int64_t> last_word = std::nullopt;  ///< ends each text
  int64_t first_word = 2;                           ///< starts the decoder's text if it is made from labels
  PositionEmbedding position_embedding = PositionEmbedding::learned;
  int64_t first_position = 2;        ///< row of the first word in the table of positions
  bool counts_words = false;         ///< positions skip padding
  bool norms_words = true;           ///< before the first layer
  bool norms_before_adding = false;  ///< in a decoder, that norm precedes the positions
  Act act = Act::gelu;
  bool has_word_bias = true;  ///< of the scores, with an encoder; not trained
  Labels labels = Labels::words;
  const char* last_norm = "layer_norm";  ///< name of the norm after all layers that norm first
  const char* head = "lm_head";
};

/// Returns sines and cosines of each position: [rows, width]. Half of the columns are sines; the frequencies fall from
/// 1 to 1 / 10000, with or without the last one.
inline torch::Tensor position_waves(int64_t rows, int64_t width, bool reaches_last) {
  const auto half = static_cast<double>(width / 2), steps = reaches_last ? half - 1 : half;
  const auto frequencies = torch::exp(torch::arange(width / 2, torch::kFloat32) * (-std::log(10000.0) / steps));
  const auto angles = torch::arange(rows, torch::kFloat32).unsqueeze(1) * frequencies;
  return torch::cat({angles.sin(), angles.cos()}, 1);
}

constexpr double bart_dropout = 0.1;

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
      : causal(is_causal), norm_first(shape.norm_first), act(shape.act) {
    const auto add_norm = [&](const char* name) { return register_module(name, layer_norm(shape.width, 1e-5)); };
    self = register_module("self_attn", BartAttention(shape));
    self_norm = add_norm("self_attn_layer_norm");
    if (crosses) {
      cross = register_module("encoder_attn", BartAttention(shape));
      cross_norm = add_norm("encoder_attn_layer_norm");
    }
    fc1 = register_module("fc1", nn::Linear(shape.width, shape.feed_forward));
    fc2 = register_module("fc2", nn::Linear(shape.feed_forward, shape.width));
    if (shape.inner_dropout > 0) inner = register_module("inner_dropout", nn::Dropout(shape.inner_dropout));
    last_norm = add_norm("final_layer_norm");
  }
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& source) {
    x = add(x, self_norm, [&](const torch::Tensor& y) { return self(y, y, causal); });
    if (cross) x = add(x, cross_norm, [&](const torch::Tensor& y) { return cross(y, source, false); });
    return add(x, last_norm, [&](const torch::Tensor& y) {
      const auto hidden = activate(act, fc1(y));
      return fc2(inner ? inner(hidden) : hidden);
    });
  }
  template <class Part>
  torch::Tensor add(const torch::Tensor& x, nn::LayerNorm& norm, Part part) {
    if (norm_first) return x + dropout(part(norm(x)));
    return norm(x + dropout(part(x)));
  }
  bool causal, norm_first;
  Act act;
  BartAttention self{nullptr}, cross{nullptr};
  nn::LayerNorm self_norm{nullptr}, cross_norm{nullptr}, last_norm{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
  nn::Dropout dropout = register_module("dropout", nn::Dropout(bart_dropout)), inner{nullptr};
};
TORCH_MODULE(BartLayer);

struct BartStackImpl : nn::Module {
  BartStackImpl(const BartShape& sizes, const nn::Embedding& embedding, bool decodes, bool crosses)
      : shape(sizes),
        adds_last(decodes && sizes.norms_before_adding),
        words(register_module("embed_tokens", embedding)) {
    const auto rows = shape.positions + shape.first_position;
    if (shape.position_embedding == PositionEmbedding::waves) {
      auto waves = register_module("embed_positions", Block());
      table = waves->register_buffer("weights", position_waves(rows, shape.width, /*reaches_last=*/true));
      table[shape.padding_word].zero_();
    } else {
      auto positions = register_module("embed_positions", nn::Embedding(rows, shape.width));
      if (shape.position_embedding == PositionEmbedding::frozen_waves) positions->weight.set_requires_grad(false);
      table = positions->weight;
    }
    if (shape.norms_words) first_norm = register_module("layernorm_embedding", layer_norm(shape.width, 1e-5));
    for (int64_t i = 0; i < shape.layers; ++i) layers.push_back(BartLayer(shape, decodes, crosses));
    register_module("layers", list_of(layers));
    if (shape.norm_first) last_norm = register_module(shape.last_norm, layer_norm(shape.width, 1e-5));
  }
  /// `source` is the encoder's output, for its decoder.
  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& source) {
    auto x = words(ids) * scale;
    if (first_norm && adds_last) x = first_norm(x);
    x = x + torch::embedding(table, places(ids));
    if (first_norm && !adds_last) x = first_norm(x);
    x = dropout(x);
    for (auto& layer : layers) x = layer(x, source);
    return last_norm ? last_norm(x) : x;
  }
  /// Returns the row of the table for each word: [L], or [N, L] if padding has none.
  torch::Tensor places(const torch::Tensor& ids) const {
    if (!shape.counts_words)
      return torch::arange(shape.first_position, shape.first_position + ids.size(1), ids.options());
    const auto words_only = ids.ne(shape.padding_word).to(torch::kInt64);
    return words_only.cumsum(1) * words_only + shape.padding_word;
  }
  BartShape shape;
  bool adds_last;
  double scale = shape.scales_words ? std::sqrt(static_cast<double>(shape.width)) : 1;
  nn::Embedding words;
  torch::Tensor table;
  nn::LayerNorm first_norm{nullptr}, last_norm{nullptr};
  std::vector<BartLayer> layers;
  nn::Dropout dropout = register_module("dropout", nn::Dropout(bart_dropout));
};
TORCH_MODULE(BartStack);

/// Token ids [N, L], with an encoder also the decoder's, and labels → loss, logits [N, L, vocabulary] and, with an
/// encoder, its last state. `bare`: the decoder alone is the child `model`. A task with one input and an encoder makes
/// the decoder's ids from labels.
class BartModel : public TokenModel {
 public:
  BartModel(const BartShape& shape, bool has_encoder, bool bare = false)
      : BartModel(shape, has_encoder, bare, Harness::huggingface, has_encoder ? 2 : 1) {}
  BartModel(const BartShape& shape, bool has_encoder, bool bare, Harness harness, size_t inputs)
      : TokenModel({.vocabulary = shape.vocabulary,
                    .tokens = shape.tokens,
                    .longest = shape.positions,
                    .labels = shape.labels,
                    .harness = harness,
                    .inputs = inputs}),
        shape_(shape),
        words_(nn::EmbeddingOptions(shape.vocabulary, shape.width).padding_idx(shape.padding_word)),
        decoder_(shape, words_, /*decodes=*/true, has_encoder) {
    auto model = group({});
    if (has_encoder) {
      encoder_ = BartStack(shape, words_, /*decodes=*/false, /*crosses=*/false);
      model->register_module("shared", words_);
      model->register_module("encoder", encoder_);
      if (shape.has_word_bias) bias_ = register_buffer("final_logits_bias", torch::zeros({1, shape.vocabulary}));
    }
    if (bare) {
      register_module("model", decoder_);
    } else {
      model->register_module("decoder", decoder_);
      register_module("model", model);
    }
    register_module(shape.head, tied(words_->weight));
    init_linears_normal(*this, 0.02);
    init_embeddings_normal(*this, 0.02);
    torch::NoGradGuard no_grad;
    words_->weight[shape.padding_word].zero_();
    if (shape.position_embedding != PositionEmbedding::frozen_waves) return;
    const auto waves = position_waves(shape.positions + shape.first_position, shape.width, /*reaches_last=*/false);
    decoder_->table.copy_(waves);
    if (encoder_) encoder_->table.copy_(waves);
  }
  /// Returns false for positions that are no weights.
  bool in_state_dict(const std::string& name) const override { return !name.ends_with("embed_positions.weights"); }

 private:
  Tensors outputs(const Tensors& inputs) override {
    if (!encoder_) return {torch::linear(decoder_(inputs.at(0), torch::Tensor()), words_->weight)};
    const auto encoded = encoder_(inputs.at(0), torch::Tensor());
    const auto ids =
        task().inputs == 1 ? shifted_right(inputs.at(1), shape_.first_word, shape_.padding_word) : inputs.at(1);
    const auto scores = torch::linear(decoder_(ids, encoded), words_->weight);
    return {bias_.defined() ? scores + bias_ : scores, encoded};
  }
  Tensors token_inputs(const ModelOptions& options) const override {
    const auto ids = random_words(options);
    if (shape_.last_word) ids.select(1, -1).fill_(*shape_.last_word);
    if (task().inputs == 1) return {ids};
    return {ids, ids.clone()};
  }

  BartShape shape_;
  nn::Embedding words_;
  BartStack encoder_{nullptr}, decoder_;
  torch::Tensor bias_;
};

/// Returns the mini preset: small sizes, and otherwise the full preset.
constexpr BartShape mini_bart(const BartShape& full) {
  auto mini = full;
  mini.vocabulary = 1000;
  mini.width = 64;
  mini.layers = 2;
  mini.heads = 4;
  mini.feed_forward = 128;
  mini.positions = 64;
  mini.tokens = 32;
  return mini;
}

/// Returns a factory of this model and of its mini preset.
inline auto bart_model(const BartShape& full, bool has_encoder, bool bare = false) {
  return by_preset<BartModel>(std::tuple(full, has_encoder, bare), std::tuple(mini_bart(full), has_encoder, bare));
}

}  // namespace torchstone
