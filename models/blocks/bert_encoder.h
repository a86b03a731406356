#pragma once
// The parts that BERT and related models share, under the names of transformers' modules.
#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone {

constexpr double bert_epsilon = 1e-12;

/// Sizes of BERT and related models. The defaults are bert-base.
struct BertShape {
  int64_t vocabulary = 30522, width = 768, layers = 12, heads = 12, feed_forward = 3072, positions = 512, tokens = 512;
  int64_t padding_word = 0;
  std::optional<int64_t> padding_position = std::nullopt;  ///< has no gradient, like the padding word
  int64_t embedding = width;                               ///< width of the words, which may be less than the layers'
  int64_t token_types = 2;                                 ///< 0: embeddings without types
  double dropout = 0.1;
  double epsilon = bert_epsilon;  ///< of the norms that AddAndNorm, Embeddings and BertModel's head have
};
/// Sizes of the mini presets.
constexpr BertShape mini_bert_shape{
    .vocabulary = 1000, .width = 64, .layers = 2, .heads = 4, .feed_forward = 128, .positions = 64, .tokens = 32};

/// Words, positions and token types (if any), summed and normalised: ids [N, L] → [N, L, embedding].
struct EmbeddingsImpl : nn::Module {
  explicit EmbeddingsImpl(const BertShape& shape) {
    words = register_module(
        "word_embeddings",
        nn::Embedding(nn::EmbeddingOptions(shape.vocabulary, shape.embedding).padding_idx(shape.padding_word)));
    auto options = nn::EmbeddingOptions(shape.positions, shape.embedding);
    if (shape.padding_position) options.padding_idx(*shape.padding_position);
    positions = register_module("position_embeddings", nn::Embedding(options));
    if (shape.token_types > 0)
      types = register_module("token_type_embeddings", nn::Embedding(shape.token_types, shape.embedding));
    norm = register_module("LayerNorm", layer_norm(shape.embedding, shape.epsilon));
    dropout = register_module("dropout", nn::Dropout(shape.dropout));
    position_ids = register_buffer("position_ids", torch::arange(shape.positions).unsqueeze(0));
    if (types) token_type_ids = register_buffer("token_type_ids", torch::zeros({1, shape.positions}, torch::kInt64));
  }
  torch::Tensor forward(const torch::Tensor& ids) { return forward(ids, position_ids.slice(1, 0, ids.size(1))); }
  /// Takes the tokens' positions [N or 1, L] as well.
  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& position) {
    if (!types) return dropout(norm(words(ids) + positions(position)));
    const auto kinds = token_type_ids.expand({position.size(0), -1}).gather(1, position).expand_as(ids);
    return dropout(norm(words(ids) + types(kinds) + positions(position)));
  }
  nn::Embedding words{nullptr}, positions{nullptr}, types{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout dropout{nullptr};
  torch::Tensor position_ids, token_type_ids;
};
TORCH_MODULE(Embeddings);

inline Block self_attention(const BertShape& shape) {
  Block block;
  auto query = block.add("query", nn::Linear(shape.width, shape.width));
  auto key = block.add("key", nn::Linear(shape.width, shape.width));
  auto value = block.add("value", nn::Linear(shape.width, shape.width));
  const auto dropout = block.add("dropout", nn::Dropout(shape.dropout));
  return block.running([=, heads = shape.heads](const torch::Tensor& x) mutable {
    return attention(query(x), key(x), value(x), heads, {.dropout = active_rate(dropout)});
  });
}

/// LayerNorm(dropout(dense(x)) + residual), the end of both halves of a layer.
struct AddAndNormImpl : nn::Module {
  AddAndNormImpl(int64_t in, const BertShape& shape) {
    dense = register_module("dense", nn::Linear(in, shape.width));
    norm = register_module("LayerNorm", layer_norm(shape.width, shape.epsilon));
    dropout = register_module("dropout", nn::Dropout(shape.dropout));
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& residual) {
    return norm(dropout(dense(x)) + residual);
  }
  nn::Linear dense{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout dropout{nullptr};
};
TORCH_MODULE(AddAndNorm);

/// Returns a post-norm encoder layer under the names of transformers' BertLayer.
inline Block bert_layer(const BertShape& shape) {
  Block block;
  auto self = self_attention(shape);
  AddAndNorm attended(shape.width, shape);
  nn::Linear dense(shape.width, shape.feed_forward);
  AddAndNorm output(shape.feed_forward, shape);
  block.add("attention", group({{"self", self.ptr()}, {"output", attended.ptr()}}));
  block.add("intermediate", group({{"dense", dense.ptr()}}));
  block.add("output", output);
  return block.running([=](torch::Tensor x) mutable {
    x = attended(self(x), x);
    return output(torch::gelu(dense(x)), x);
  });
}

/// The head that converts hidden states to scores of words: linear(norm(act(dense(x))), words, bias). Each model
/// registers its parts itself, because their names differ in the originals.
struct WordHead {
  WordHead(int64_t width, const torch::Tensor& words, Act activation = Act::gelu, double epsilon = bert_epsilon)
      : dense(width, words.size(1)),
        norm(layer_norm(words.size(1), epsilon)),
        decoder(tied(words)),
        weight(words),
        bias(decoder->register_parameter("bias", torch::zeros({words.size(0)}))),
        act(activation) {}
  torch::Tensor operator()(const torch::Tensor& x) {
    return torch::linear(norm(activate(act, dense(x))), weight, bias);
  }
  nn::Linear dense;
  nn::LayerNorm norm;
  std::shared_ptr<nn::Module> decoder;
  torch::Tensor weight, bias;
  Act act;
};

/// Returns the scores of each position as the first and as the last of an answer: states [N, L, width] → two of [N, L].
inline Tensors answer_scores(nn::Linear& head, const torch::Tensor& states) {
  const auto ends = head(states).split(1, -1);
  return {ends[0].squeeze(-1).contiguous(), ends[1].squeeze(-1).contiguous()};
}

/// Embeddings, layers and a head for the labels: one tied to the words, ids [N, L] → logits [N, L, vocabulary], or
/// answer_scores(). Derived classes run the layers and register the parts under the originals' names; for classes, they
/// have the head.
template <class Embeddings, class Layer>
class BertModel : public TokenModel {
 public:
  BertModel(const BertShape& shape, Layer (*layer)(const BertShape&), Labels labels = Labels::words,
            Harness harness = Harness::huggingface)
      : TokenModel({shape.vocabulary, shape.tokens, shape.positions - 2 * shape.padding_word, labels, harness}),
        shape_(shape),
        embeddings_(shape) {
    if (labels == Labels::span)
      answer_ = register_module("qa_outputs", nn::Linear(shape.width, 2));
    else if (labels != Labels::classes)
      head_.emplace(shape.width, embeddings_->words->weight, Act::gelu, shape.epsilon);
    for (int64_t i = 0; i < shape.layers; ++i) layers_.push_back(layer(shape));
  }

 protected:
  virtual Tensors head(const torch::Tensor& states) {
    if (answer_) return answer_scores(answer_, states);
    return {(*head_)(states)};
  }
  /// Registers the parts under the names of BERT and its closest relatives. Returns the group of all but the head.
  nn::ModuleDict register_as_bert(const std::string& name) {
    auto model =
        group({{"embeddings", embeddings_.ptr()}, {"encoder", group({{"layer", list_of(layers_).ptr()}}).ptr()}});
    register_module(name, model);
    if (!head_) return model;
    const auto transform = group({{"dense", head_->dense.ptr()}, {"LayerNorm", head_->norm.ptr()}});
    auto predictions = group({{"transform", transform.ptr()}, {"decoder", head_->decoder}});
    predictions->register_parameter("bias", head_->bias);
    register_module("cls", group({{"predictions", predictions.ptr()}}));
    return model;
  }
  /// Initialises the weights at the end of a constructor: normal with deviation 0.02, the padding word and position 0.
  void init() {
    init_linears_normal(*this, 0.02);
    init_embeddings_normal(*this, 0.02);
    torch::NoGradGuard no_grad;
    embeddings_->words->weight[shape_.padding_word].zero_();
    if (shape_.padding_position) embeddings_->positions->weight[*shape_.padding_position].zero_();
  }

  BertShape shape_;
  Embeddings embeddings_;
  std::vector<Layer> layers_;
  std::optional<WordHead> head_;
  nn::Linear answer_{nullptr};
};

/// BertModel whose layers take the result of the layer before.
template <class Embeddings>
class WordEncoder : public BertModel<Embeddings, Block> {
 public:
  using BertModel<Embeddings, Block>::BertModel;

 protected:
  Tensors outputs(const Tensors& inputs) override {
    auto x = embed(inputs.at(0));
    for (auto& layer : this->layers_) x = layer(x);
    return this->head(x);
  }
  virtual torch::Tensor embed(const torch::Tensor& ids) { return this->embeddings_->forward(ids); }
};

}  // namespace torchstone
