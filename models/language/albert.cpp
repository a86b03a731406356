// ALBERT: one encoder layer, run twelve times; words of width 128 are projected to the layer's width.
// Paper: Lan et al., "ALBERT: a lite BERT for self-supervised learning of language representations", 2019.
// Original: transformers.AlbertForMaskedLM in the sizes of albert-base-v2 (upstream runs the much larger xxlarge).
// Input token ids and labels, both [N, 512] → loss and logits [N, 512, 30000]; 11,221,680 parameters. mini: 3 runs of a
// layer of width 64, words of width 32, 1000 words, 32 tokens.
#include "models/blocks/bert_encoder.h"

namespace torchstone::albert {
namespace {

struct AlbertAttentionImpl : nn::Module {
  explicit AlbertAttentionImpl(const BertShape& shape)
      : query(register_module("query", nn::Linear(shape.width, shape.width))),
        key(register_module("key", nn::Linear(shape.width, shape.width))),
        value(register_module("value", nn::Linear(shape.width, shape.width))),
        dense(register_module("dense", nn::Linear(shape.width, shape.width))),
        norm(register_module("LayerNorm", layer_norm(shape.width, bert_epsilon))),
        heads(shape.heads) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return norm(x + dense(attention(query(x), key(x), value(x), heads)));
  }
  nn::Linear query, key, value, dense;
  nn::LayerNorm norm;
  int64_t heads;
};
TORCH_MODULE(AlbertAttention);

struct AlbertLayerImpl : nn::Module {
  explicit AlbertLayerImpl(const BertShape& shape)
      : attended(register_module("attention", AlbertAttention(shape))),
        ffn(register_module("ffn", nn::Linear(shape.width, shape.feed_forward))),
        ffn_output(register_module("ffn_output", nn::Linear(shape.feed_forward, shape.width))),
        norm(register_module("full_layer_layer_norm", layer_norm(shape.width, bert_epsilon))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = attended(x);
    return norm(ffn_output(activate(Act::tanh_gelu, ffn(x))) + x);
  }
  AlbertAttention attended;
  nn::Linear ffn, ffn_output;
  nn::LayerNorm norm;
};
TORCH_MODULE(AlbertLayer);

/// Projects words to the layer's width and runs the layer several times.
struct RepeatedLayerImpl : nn::Module {
  explicit RepeatedLayerImpl(const BertShape& shape)
      : widen(register_module("embedding_hidden_mapping_in", nn::Linear(shape.embedding, shape.width))),
        layer(shape),
        times(shape.layers) {
    const auto layers = group({{"albert_layers", list_of(std::vector{layer}).ptr()}});
    register_module("albert_layer_groups", list_of(std::vector{layers}));
  }
  torch::Tensor forward(torch::Tensor x) {
    x = widen(x);
    for (int64_t i = 0; i < times; ++i) x = layer(x);
    return x;
  }
  nn::Linear widen;
  AlbertLayer layer;
  int64_t times;
};
TORCH_MODULE(RepeatedLayer);

class AlbertForMaskedLM : public TokenModel {
 public:
  explicit AlbertForMaskedLM(const BertShape& shape)
      : TokenModel({shape.vocabulary, shape.tokens, shape.positions}),
        embeddings_(shape),
        encoder_(shape),
        head_(shape.width, embeddings_->words->weight, Act::tanh_gelu) {
    register_module("albert", group({{"embeddings", embeddings_.ptr()}, {"encoder", encoder_.ptr()}}));
    auto head = group({{"dense", head_.dense.ptr()}, {"LayerNorm", head_.norm.ptr()}, {"decoder", head_.decoder}});
    head->register_parameter("bias", head_.bias);
    register_module("predictions", head);
    init_linears_normal(*this, 0.02);
    each_layer<nn::Embedding>(*this, [](auto& embedding) { nn::init::normal_(embedding.weight, 0, 0.02); });
  }

 private:
  Tensors outputs(const Tensors& inputs) override { return {head_(encoder_(embeddings_->forward(inputs.at(0))))}; }

  Embeddings embeddings_;
  RepeatedLayer encoder_;
  WordHead head_;
};

constexpr BertShape full_shape{.vocabulary = 30000, .embedding = 128, .dropout = 0};
BertShape mini_shape() {
  auto shape = mini_bert_shape;
  shape.layers = 3;
  shape.embedding = 32;
  shape.dropout = 0;
  return shape;
}

TORCHSTONE_MODEL(albert_base_v2, .family = "albert", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 11'221'680, .make = by_preset<AlbertForMaskedLM>(full_shape, mini_shape()));

}  // namespace
}  // namespace torchstone::albert
