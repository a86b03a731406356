// ELECTRA's generator: BERT's encoder on words that are narrower than its layers.
// Paper: Clark et al., "ELECTRA: pre-training text encoders as discriminators rather than generators", 2020.
// Original: transformers.ElectraForCausalLM (as an encoder, as upstream runs it) and ElectraForQuestionAnswering. Token
// ids and labels, both [N, 512] → loss of the next words and logits [N, 512, 30522]; ids and the first and last
// positions of answers, both [N] → loss and two logits [N, 512]; 13,546,682 and 13,483,522 parameters. mini: 2 layers
// of width 64, words of width 32, 1000 words, 32 tokens.
#include "models/blocks/bert_encoder.h"

namespace torchstone::electra {
namespace {

class Electra : public WordEncoder<Embeddings> {
 public:
  Electra(const BertShape& shape, Labels labels)
      : WordEncoder(shape, bert_layer, labels), widen_(shape.embedding, shape.width) {
    register_module("electra", group({{"embeddings", embeddings_.ptr()},
                                      {"embeddings_project", widen_.ptr()},
                                      {"encoder", group({{"layer", list_of(layers_).ptr()}}).ptr()}}));
    if (head_) {
      register_module("generator_predictions",
                      group({{"dense", head_->dense.ptr()}, {"LayerNorm", head_->norm.ptr()}}));
      register_module("generator_lm_head", head_->decoder);
    }
    init();
  }

 private:
  torch::Tensor embed(const torch::Tensor& ids) override { return widen_(embeddings_->forward(ids)); }

  nn::Linear widen_;
};

constexpr BertShape full_shape{.width = 256, .heads = 4, .feed_forward = 1024, .embedding = 128};
BertShape mini_shape() {
  auto shape = mini_bert_shape;
  shape.embedding = 32;
  return shape;
}

TORCHSTONE_MODEL(ElectraForCausalLM, .family = "electra", .suites = {"huggingface"}, .train_batch = 64,
                 .eval_batch = 64, .parameters = 13'546'682,
                 .make = by_preset<Electra>(std::tuple(full_shape, Labels::next_words),
                                            std::tuple(mini_shape(), Labels::next_words)));
TORCHSTONE_MODEL(ElectraForQuestionAnswering, .family = "electra", .suites = {"huggingface"}, .train_batch = 128,
                 .eval_batch = 128, .parameters = 13'483'522,
                 .make = by_preset<Electra>(std::tuple(full_shape, Labels::span),
                                            std::tuple(mini_shape(), Labels::span)));

}  // namespace
}  // namespace torchstone::electra
