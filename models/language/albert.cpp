// ALBERT: one encoder layer, run twelve times; words of width 128 are projected to the layer's width.
// Paper: Lan et al., "ALBERT: a lite BERT for self-supervised learning of language representations", 2019.
// Original: transformers.AlbertForMaskedLM in the sizes of albert-base-v2, and AlbertForMaskedLM and
// AlbertForQuestionAnswering in those of xxlarge, as upstream runs them. Input token ids and labels, both [N, 512] →
// loss and logits [N, 512, 30000]; ids and the first and last positions of answers, both [N] → loss and two logits [N,
// 512]; 11,221,680 (base), 206,368,944 and 205,822,466 parameters. mini: 3 runs of a layer of width 64, words of width
// 32, 1000 words, 32 tokens.
#include "models/blocks/bert_encoder.h"

namespace torchstone::albert {
namespace {

Block albert_attention(const BertShape& shape) {
  Block block;
  auto query = block.add("query", nn::Linear(shape.width, shape.width));
  auto key = block.add("key", nn::Linear(shape.width, shape.width));
  auto value = block.add("value", nn::Linear(shape.width, shape.width));
  auto dense = block.add("dense", nn::Linear(shape.width, shape.width));
  auto norm = block.add("LayerNorm", layer_norm(shape.width, bert_epsilon));
  return block.running([=, heads = shape.heads](const torch::Tensor& x) mutable {
    return norm(x + dense(attention(query(x), key(x), value(x), heads)));
  });
}

Block albert_layer(const BertShape& shape) {
  Block block;
  auto attended = block.add("attention", albert_attention(shape));
  auto ffn = block.add("ffn", nn::Linear(shape.width, shape.feed_forward));
  auto ffn_output = block.add("ffn_output", nn::Linear(shape.feed_forward, shape.width));
  auto norm = block.add("full_layer_layer_norm", layer_norm(shape.width, bert_epsilon));
  return block.running([=](torch::Tensor x) mutable {
    x = attended(x);
    return norm(ffn_output(activate(Act::tanh_gelu, ffn(x))) + x);
  });
}

/// Projects words to the layer's width and runs the layer several times.
Block repeated_layer(const BertShape& shape) {
  Block block;
  auto widen = block.add("embedding_hidden_mapping_in", nn::Linear(shape.embedding, shape.width));
  auto layer = albert_layer(shape);
  const auto layers = group({{"albert_layers", list_of(std::vector{layer}).ptr()}});
  block.add("albert_layer_groups", list_of(std::vector{layers}));
  return block.running([=, times = shape.layers](torch::Tensor x) mutable {
    x = widen(x);
    for (int64_t i = 0; i < times; ++i) x = layer(x);
    return x;
  });
}

class Albert : public TokenModel {
 public:
  Albert(const BertShape& shape, Labels labels)
      : TokenModel({shape.vocabulary, shape.tokens, shape.positions, labels}),
        embeddings_(shape),
        encoder_(repeated_layer(shape)) {
    register_module("albert", group({{"embeddings", embeddings_.ptr()}, {"encoder", encoder_.ptr()}}));
  }

 protected:
  torch::Tensor states(const torch::Tensor& ids) { return encoder_(embeddings_->forward(ids)); }
  const torch::Tensor& words() { return embeddings_->words->weight; }
  /// Initialises the weights at the end of a constructor.
  void init() {
    init_linears_normal(*this, 0.02);
    init_embeddings_normal(*this, 0.02);
  }

 private:
  Embeddings embeddings_;
  Block encoder_;
};

class MaskedWords : public Albert {
 public:
  explicit MaskedWords(const BertShape& shape)
      : Albert(shape, Labels::words), head_(shape.width, words(), Act::tanh_gelu) {
    auto head = group({{"dense", head_.dense.ptr()}, {"LayerNorm", head_.norm.ptr()}, {"decoder", head_.decoder}});
    head->register_parameter("bias", head_.bias);
    register_module("predictions", head);
    init();
  }

 private:
  Tensors outputs(const Tensors& inputs) override { return {head_(states(inputs.at(0)))}; }

  WordHead head_;
};

class Answers : public Albert {
 public:
  explicit Answers(const BertShape& shape) : Albert(shape, Labels::span) {
    head_ = register_module("qa_outputs", nn::Linear(shape.width, 2));
    init();
  }

 private:
  Tensors outputs(const Tensors& inputs) override { return answer_scores(head_, states(inputs.at(0))); }

  nn::Linear head_{nullptr};
};

constexpr BertShape base_shape{.vocabulary = 30000, .embedding = 128, .dropout = 0},
    xxlarge_shape{
        .vocabulary = 30000, .width = 4096, .heads = 64, .feed_forward = 16384, .embedding = 128, .dropout = 0};
BertShape mini_shape() {
  auto shape = mini_bert_shape;
  shape.layers = 3;
  shape.embedding = 32;
  shape.dropout = 0;
  return shape;
}

TORCHSTONE_MODEL(albert_base_v2, .family = "albert", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 11'221'680, .make = by_preset<MaskedWords>(base_shape, mini_shape()));
TORCHSTONE_MODEL(AlbertForMaskedLM, .family = "albert", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 206'368'944, .make = by_preset<MaskedWords>(xxlarge_shape, mini_shape()));
TORCHSTONE_MODEL(AlbertForQuestionAnswering, .family = "albert", .suites = {"huggingface"}, .train_batch = 8,
                 .eval_batch = 8, .parameters = 205'822'466, .make = by_preset<Answers>(xxlarge_shape, mini_shape()));

}  // namespace
}  // namespace torchstone::albert
