// DistilBERT: half of BERT's layers, without token types.
// Paper: Sanh et al., "DistilBERT, a distilled version of BERT", 2019. Original: transformers.DistilBertForMaskedLM and
// DistilBertForQuestionAnswering. DistilBertForMaskedLM runs as in upstream's huggingface.py: token ids and labels,
// both [N, 128] → loss and logits [N, 128, 30522]; DistilBertForQuestionAnswering: ids and the first and last positions
// of answers, both [N] → loss and two logits [N, 128]. hf_DistilBert runs as in torchbench.py: 512 tokens, labels only
// in training. 66,985,530 parameters, and 66,364,418 for answers. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bert_encoder.h"

namespace torchstone::distilbert {
namespace {

Block distil_layer(const BertShape& shape) {
  Block block;
  nn::Linear query(shape.width, shape.width), key(shape.width, shape.width), value(shape.width, shape.width),
      out(shape.width, shape.width), lin1(shape.width, shape.feed_forward), lin2(shape.feed_forward, shape.width);
  auto sa_layer_norm = block.add("sa_layer_norm", layer_norm(shape.width, bert_epsilon));
  auto output_layer_norm = block.add("output_layer_norm", layer_norm(shape.width, bert_epsilon));
  auto dropout = block.add("dropout", nn::Dropout(shape.dropout));
  block.add("attention",
            group({{"q_lin", query.ptr()}, {"k_lin", key.ptr()}, {"v_lin", value.ptr()}, {"out_lin", out.ptr()}}));
  block.add("ffn", group({{"lin1", lin1.ptr()}, {"lin2", lin2.ptr()}}));
  return block.running([=, heads = shape.heads](torch::Tensor x) mutable {
    x = sa_layer_norm(out(attention(query(x), key(x), value(x), heads, {.dropout = active_rate(dropout)})) + x);
    return output_layer_norm(dropout(lin2(torch::gelu(lin1(x)))) + x);
  });
}

class DistilBert : public WordEncoder<Embeddings> {
 public:
  DistilBert(const BertShape& shape, Labels labels, Harness harness)
      : WordEncoder(shape, distil_layer, labels, harness) {
    register_module("distilbert", group({{"embeddings", embeddings_.ptr()},
                                         {"transformer", group({{"layer", list_of(layers_).ptr()}}).ptr()}}));
    if (head_) {
      register_module("vocab_transform", head_->dense);
      register_module("vocab_layer_norm", head_->norm);
      register_module("vocab_projector", head_->decoder);
    } else {
      dropout_ = register_module("dropout", nn::Dropout(shape.dropout));
    }
    init();
  }

 private:
  Tensors head(const torch::Tensor& states) override { return WordEncoder::head(dropout_ ? dropout_(states) : states); }

  nn::Dropout dropout_{nullptr};
};

auto make(int64_t tokens, Labels labels, Harness harness) {
  const BertShape full{.layers = 6, .tokens = tokens, .token_types = 0};
  auto mini = mini_bert_shape;
  mini.token_types = 0;
  return by_preset<DistilBert>(std::tuple(full, labels, harness), std::tuple(mini, labels, harness));
}

TORCHSTONE_MODEL(DistilBertForMaskedLM, .family = "distilbert", .suites = {"huggingface"}, .train_batch = 256,
                 .eval_batch = 256, .parameters = 66'985'530,
                 .make = make(/*tokens=*/128, Labels::words, Harness::huggingface));
TORCHSTONE_MODEL(DistilBertForQuestionAnswering, .family = "distilbert", .suites = {"huggingface"}, .train_batch = 512,
                 .eval_batch = 512, .parameters = 66'364'418,
                 .make = make(/*tokens=*/128, Labels::span, Harness::huggingface));
TORCHSTONE_MODEL(hf_DistilBert, .family = "distilbert", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 66'985'530, .make = make(/*tokens=*/512, Labels::words, Harness::torchbench));

}  // namespace
}  // namespace torchstone::distilbert
