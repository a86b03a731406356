// BERT: post-norm transformer encoder with a masked-language head tied to the word embeddings.
// Paper: Devlin, Chang, Lee, Toutanova, "BERT: pre-training of deep bidirectional transformers", 2018.
// Original: transformers.BertForMaskedLM. Input token ids and labels, both
// [N, 512] → loss and logits [N, 512, 30522]; 109,514,298 parameters.
// mini: 2 layers of width 64, 1000 words, 32 tokens.
#include <torchstone/model.h>

#include "models/blocks/bert_encoder.h"

namespace torchstone::bert {
namespace {

class BertForMaskedLM : public WordEncoder<Embeddings, BertLayer> {
 public:
  explicit BertForMaskedLM(const BertShape& shape) : WordEncoder(shape) {
    register_as_bert("bert");
    init();
  }

 private:
  torch::Tensor embed(const Tensors& inputs) override { return embeddings_->forward(inputs.at(0)); }
};

TORCHSTONE_MODEL(
    BertForMaskedLM, .family = "bert", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 109'514'298, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      return std::make_shared<BertForMaskedLM>(options.preset == Preset::full ? BertShape{} : mini_bert_shape);
    });

}  // namespace
}  // namespace torchstone::bert
