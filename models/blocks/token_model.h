#pragma once
#include <torchstone/model.h>

namespace torchstone {

/// Which labels a head of transformers is trained on, and how its logits are compared with them.
enum class Labels {
  words,       ///< logits [N, L, words], labels [N, L]: the word of each place
  next_words,  ///< the same, where each place foretells the label after its own
  classes,     ///< logits [N, classes], labels [N]
};

/// Cross entropy as transformers' heads take it: the mean over all labels but those of -100. That of the next words is
/// taken in float32 at least.
torch::Tensor label_loss(const torch::Tensor& logits, const torch::Tensor& labels, Labels kind);

/// A model of transformers. Inputs: token ids [N, tokens], int64 below the vocabulary's size, and what else a model
/// reads. With labels behind them, as in training, forward returns (loss, logits), and that is the loss it is trained
/// on; without labels, as in inference, the logits alone (upstream's huggingface.py has labels there too).
class TokenModel : public Model {
 public:
  TokenModel(int64_t vocabulary, int64_t tokens, Labels labels, size_t inputs = 1)
      : vocabulary_(vocabulary), tokens_(tokens), labels_(labels), inputs_(inputs) {}
  c10::IValue forward(const Tensors& inputs) final;
  Tensors example_inputs(const ModelOptions& options) const final;
  torch::Tensor loss(const c10::IValue& output) const final;
  /// Tables of places and types (`position_ids`) are no state.
  bool in_state_dict(const std::string& name) const override { return !name.ends_with("_ids"); }

 protected:
  virtual torch::Tensor logits(const Tensors& inputs) = 0;
  /// Fresh inputs without labels.
  virtual Tensors token_inputs(int64_t batch) const { return {random_words(batch)}; }
  /// Fresh labels.
  virtual torch::Tensor random_labels(int64_t batch) const { return random_words(batch); }
  torch::Tensor random_words(int64_t batch) const {
    return torch::randint(vocabulary_, {batch, tokens_}, torch::kInt64);
  }

 private:
  int64_t vocabulary_, tokens_;
  Labels labels_;
  size_t inputs_;  // without labels
};

/// A child that holds a weight which another module holds too, such as a head tied to the word embedding.
inline std::shared_ptr<torch::nn::Module> tied(const torch::Tensor& weight) {
  auto module = std::make_shared<torch::nn::Module>();
  module->register_parameter("weight", weight);
  return module;
}

}  // namespace torchstone
