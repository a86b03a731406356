// DeBERTa-v2 as upstream runs it: by the default configuration of transformers, which has absolute positions and not
// the paper's relative ones. Thus it is a wide BERT with attention of its own, written as products of matrices. Paper:
// He et al., "DeBERTa: decoding-enhanced BERT with disentangled attention", 2020. Original:
// transformers.DebertaV2ForMaskedLM and DebertaV2ForQuestionAnswering. Token ids and labels, both [N, 512] → loss and
// logits [N, 512, 128100]; ids and the first and last positions of answers, both [N] → loss and two logits [N, 512];
// 879,999,588 and 877,510,658 parameters. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include <cmath>
#include <limits>

#include "models/blocks/bert_encoder.h"

namespace torchstone::deberta_v2 {
namespace {

constexpr BertShape full_shape{.vocabulary = 128100,
                               .width = 1536,
                               .layers = 24,
                               .heads = 24,
                               .feed_forward = 6144,
                               .token_types = 0,
                               .epsilon = 1e-7};
BertShape mini_shape() {
  auto shape = mini_bert_shape;
  shape.token_types = 0;
  shape.epsilon = full_shape.epsilon;
  return shape;
}

double lowest_of(torch::Dtype dtype) {
  switch (dtype) {
    case torch::kFloat64:
      return std::numeric_limits<double>::lowest();
    case torch::kBFloat16:
      return std::numeric_limits<c10::BFloat16>::lowest();
    case torch::kFloat16:
      return std::numeric_limits<c10::Half>::lowest();
    default:
      return std::numeric_limits<float>::lowest();
  }
}

/// Words and positions, summed, normalised and masked.
struct MaskedEmbeddingsImpl : EmbeddingsImpl {
  using EmbeddingsImpl::EmbeddingsImpl;
  /// Takes ids and a mask, both [N, L].
  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& mask) {
    const auto x = norm(words(ids) + positions(position_ids.slice(1, 0, ids.size(1))));
    return dropout(x * mask.unsqueeze(2).to(x.scalar_type()));
  }
};
TORCH_MODULE(MaskedEmbeddings);

/// BERT's layer with attention whose keys are scaled before the product.
struct LayerImpl : nn::Module {
  explicit LayerImpl(const BertShape& shape)
      : heads(shape.heads),
        query(shape.width, shape.width),
        key(shape.width, shape.width),
        value(shape.width, shape.width),
        dropout(shape.dropout),
        attended(shape.width, shape),
        dense(shape.width, shape.feed_forward),
        output(shape.feed_forward, shape) {
    const auto self = group({{"query_proj", query.ptr()},
                             {"key_proj", key.ptr()},
                             {"value_proj", value.ptr()},
                             {"dropout", dropout.ptr()}});
    register_module("attention", group({{"self", self.ptr()}, {"output", attended.ptr()}}));
    register_module("intermediate", group({{"dense", dense.ptr()}}));
    register_module("output", output);
  }
  /// Takes states [N, L, width] and which positions attend to which [N, 1, L, L].
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& mask) {
    x = attended(attend(x, mask), x);
    return output(torch::gelu(dense(x)), x);
  }

  int64_t heads;
  nn::Linear query, key, value;
  nn::Dropout dropout;
  AddAndNorm attended;
  nn::Linear dense;
  AddAndNorm output;

 private:
  /// [N, L, heads * D] → [N * heads, L, D].
  torch::Tensor by_head(const torch::Tensor& x) const {
    return split_heads(x, heads).contiguous().view({-1, x.size(1), x.size(2) / heads});
  }
  torch::Tensor attend(const torch::Tensor& x, const torch::Tensor& mask) {
    const auto length = x.size(1);
    const auto queries = by_head(query(x)), keys = by_head(key(x)), values = by_head(value(x));
    const auto scale = std::sqrt(static_cast<double>(keys.size(2)));
    const auto scores = torch::bmm(queries, keys.transpose(1, 2) / scale)
                            .view({-1, heads, length, length})
                            .masked_fill(mask.to(torch::kBool).bitwise_not(), lowest_of(x.scalar_type()));
    const auto weights = dropout(torch::softmax(scores, -1));
    const auto mixed = torch::bmm(weights.view({-1, length, length}), values);
    return join_heads(mixed.view({x.size(0), heads, length, -1}));
  }
};
TORCH_MODULE(Layer);

class DebertaV2 : public BertModel<MaskedEmbeddings, Layer> {
 public:
  DebertaV2(const BertShape& shape, Labels labels)
      : BertModel(
            shape, [](const BertShape& sizes) { return Layer(sizes); }, labels) {
    register_as_bert("deberta");
    init();
  }

 private:
  /// Attends to all words, because upstream passes no mask.
  Tensors outputs(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    const auto mask = torch::ones(ids.sizes(), ids.options().dtype(torch::kFloat32));
    auto x = embeddings_->forward(ids, mask);
    const auto keys = mask.unsqueeze(1).unsqueeze(2), pairs = keys * keys.squeeze(-2).unsqueeze(-1);
    for (auto& layer : layers_) x = layer(x, pairs);
    return head(x);
  }
};

auto make(Labels labels) {
  return by_preset<DebertaV2>(std::tuple(full_shape, labels), std::tuple(mini_shape(), labels));
}

TORCHSTONE_MODEL(DebertaV2ForMaskedLM, .family = "deberta_v2", .suites = {"huggingface"}, .train_batch = 8,
                 .eval_batch = 8, .parameters = 879'999'588, .make = make(Labels::words));
TORCHSTONE_MODEL(DebertaV2ForQuestionAnswering, .family = "deberta_v2", .suites = {"huggingface"}, .train_batch = 8,
                 .eval_batch = 8, .parameters = 877'510'658, .make = make(Labels::span));

}  // namespace
}  // namespace torchstone::deberta_v2
