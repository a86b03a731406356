// RoBERTa: BERT's encoder with positions that count from the padding word's number, and a head of its own.
// Paper: Liu et al., "RoBERTa: a robustly optimized BERT pretraining approach", 2019.
// Original: transformers.RobertaForCausalLM (as an encoder, as upstream runs it). Input token ids [N, 512] → logits
// [N, 512, 50265]; 124,698,201 parameters: 514 positions, as 512 tokens need them.
// mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bert_encoder.h"
#include "models/registry.h"

namespace torchstone {
namespace {

class RobertaForCausalLM : public WordEncoder<Embeddings, BertLayer> {
 public:
  explicit RobertaForCausalLM(const BertShape& shape) : WordEncoder(shape) {
    register_module("roberta", group({{"embeddings", embeddings_.ptr()},
                                      {"encoder", group({{"layer", list_of(layers_).ptr()}}).ptr()}}));
    auto head = group({{"dense", head_.dense.ptr()}, {"layer_norm", head_.norm.ptr()}, {"decoder", head_.decoder}});
    head->register_parameter("bias", head_.bias);
    register_module("lm_head", head);
    init();
  }

 protected:
  torch::Tensor embed(const torch::Tensor& ids) override {
    const auto words = ids.ne(shape_.padding_word).to(torch::kInt64);
    return embeddings_->forward(ids, words.cumsum(1) * words + shape_.padding_word);
  }
};

constexpr BertShape kFull{.vocabulary = 50265, .positions = 514, .padding_word = 1};
constexpr BertShape kMini{.vocabulary = 1000,
                          .width = 64,
                          .layers = 2,
                          .heads = 4,
                          .feed_forward = 128,
                          .positions = 66,
                          .tokens = 32,
                          .padding_word = 1};

TORCHSTONE_MODEL(
    RobertaForCausalLM, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 124'698'201, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      return std::make_shared<RobertaForCausalLM>(options.preset == Preset::full ? kFull : kMini);
    });

}  // namespace
}  // namespace torchstone
