// RoBERTa: BERT's encoder with positions that count from the padding word's number, and a head of its own; CamemBERT is
// the same of French words. Papers: Liu et al., "RoBERTa: a robustly optimized BERT pretraining approach", 2019; Martin
// et al., "CamemBERT: a tasty French language model", 2019. Original: transformers.RobertaForCausalLM (as an encoder,
// as upstream runs it) and CamembertForMaskedLM. Input token ids [N, 512] → logits [N, 512, 50265] (RoBERTa, whose
// loss is that of the next words) and [N, 512, 32005]; 124,698,201 and 110,656,261 parameters: 514 positions, as 512
// tokens need them. mini: 2 layers of width 64, 1000 words, 32 tokens.
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

constexpr BertShape full_shape{.vocabulary = 50265, .positions = 514, .padding_word = 1};
constexpr BertShape mini_shape{.vocabulary = 1000,
                               .width = 64,
                               .layers = 2,
                               .heads = 4,
                               .feed_forward = 128,
                               .positions = 66,
                               .tokens = 32,
                               .padding_word = 1};

std::shared_ptr<Model> make(const ModelOptions& options, const BertShape& full, Labels labels) {
  return std::make_shared<Roberta>(options.preset == Preset::full ? full : mini_shape, labels);
}

TORCHSTONE_MODEL(
    RobertaForCausalLM, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 124'698'201,
    .make = [](const ModelOptions& options) { return make(options, full_shape, Labels::next_words); });
TORCHSTONE_MODEL(
    CamemBert, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 110'656'261, .make = [](const ModelOptions& options) {
      return make(options, {.vocabulary = 32005, .positions = 514, .padding_word = 1}, Labels::words);
    });

}  // namespace
}  // namespace torchstone::roberta
