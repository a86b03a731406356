// RoBERTa: BERT's encoder with positions that count from the padding word's number, and a head of its own; CamemBERT is
// the same of French words. Papers: Liu et al., "RoBERTa: a robustly optimized BERT pretraining approach", 2019; Martin
// et al., "CamemBERT: a tasty French language model", 2019. Original: transformers.RobertaForCausalLM (as an encoder,
// as upstream runs it) and CamembertForMaskedLM. Input token ids and labels, both [N, 512] → loss and logits [N, 512,
// 50265] (RoBERTa, whose loss is that of the next words) and [N, 512, 32005]; 124,696,665 and 110,656,261 parameters.
// Upstream draws RoBERTa's ids below 1 and has 0 as its padding word, so that all tokens are padding and share one
// position; CamemBERT's 512 tokens need 514. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include <torchstone/model.h>

#include "models/blocks/bert_encoder.h"

namespace torchstone::roberta {
namespace {

class Roberta : public WordEncoder<Embeddings, BertLayer> {
 public:
  Roberta(const BertShape& shape, Labels labels) : WordEncoder(shape, labels) {
    register_module("roberta", group({{"embeddings", embeddings_.ptr()},
                                      {"encoder", group({{"layer", list_of(layers_).ptr()}}).ptr()}}));
    auto head = group({{"dense", head_.dense.ptr()}, {"layer_norm", head_.norm.ptr()}, {"decoder", head_.decoder}});
    head->register_parameter("bias", head_.bias);
    register_module("lm_head", head);
    init();
  }

 protected:
  torch::Tensor embed(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    const auto words = ids.ne(shape_.padding_word).to(torch::kInt64);
    return embeddings_->forward(ids, words.cumsum(1) * words + shape_.padding_word);
  }
};

/// RoBERTa with nothing but padding to read.
class PaddingRoberta : public Roberta {
 public:
  explicit PaddingRoberta(const BertShape& shape) : Roberta(shape, Labels::next_words) {}

 private:
  Tensors token_inputs(const ModelOptions& options) const override {
    return {torch::full({options.batch_size, length_of(options)}, shape_.padding_word, torch::kInt64)};
  }
};

BertShape mini_shape(int64_t positions, int64_t padding_word) {
  return {.vocabulary = 1000,
          .width = 64,
          .layers = 2,
          .heads = 4,
          .feed_forward = 128,
          .positions = positions,
          .tokens = 32,
          .padding_word = padding_word,
          .padding_position = padding_word};
}

TORCHSTONE_MODEL(
    RobertaForCausalLM, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 124'696'665, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      const BertShape full{.vocabulary = 50265, .padding_position = 0};
      return std::make_shared<PaddingRoberta>(options.preset == Preset::full ? full : mini_shape(64, 0));
    });
TORCHSTONE_MODEL(
    CamemBert, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 110'656'261, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      const BertShape full{.vocabulary = 32005, .positions = 514, .padding_word = 1, .padding_position = 1};
      return std::make_shared<Roberta>(options.preset == Preset::full ? full : mini_shape(66, 1), Labels::words);
    });

}  // namespace
}  // namespace torchstone::roberta
