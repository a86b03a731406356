#pragma once
#include <torchstone/model.h>

namespace torchstone {

/// Which labels a head of transformers is given, and how its logits are compared with them.
enum class Labels {
  words,       ///< logits [N, L, words], labels [N, L]: the word of each place
  next_words,  ///< the same, where each place foretells the label after its own
  classes,     ///< logits [N, classes], labels [N]
};

/// As which of upstream's programs a model of transformers runs.
enum class Harness {
  huggingface,  ///< labels in inference too; trained on its own loss
  torchbench,   ///< labels in training alone; trained on the mean of its logits (`reduce_to_scalar_loss`)
};

/// Cross entropy as transformers' heads take it: the mean over all labels but those of -100. That of the next words is
/// taken in float32 at least.
torch::Tensor label_loss(const torch::Tensor& logits, const torch::Tensor& labels, Labels kind);

/// How a model of transformers is called.
struct TokenTask {
  int64_t vocabulary = 0, tokens = 0;
  int64_t longest = 0;  ///< tokens that the model takes at most; 0: no other number than `tokens`
  Labels labels = Labels::words;
  Harness harness = Harness::huggingface;
  size_t inputs = 1;  ///< without labels
};

/// A model of transformers. Inputs: token ids [N, tokens], int64 below the vocabulary's size, and what else a model
/// reads. Forward returns the logits and what else the original returns beside them. With labels behind the inputs the
/// loss stands before both.
class TokenModel : public Model {
 public:
  explicit TokenModel(const TokenTask& task) : task_(task) {}
  c10::IValue forward(const Tensors& inputs) final;
  Tensors example_inputs(const ModelOptions& options) const final;
  /// The length of the texts.
  std::vector<ModelDimension> dimensions() const override;
  torch::Tensor loss(const c10::IValue& output) const final;
  /// Tables of places and types (`position_ids`) are no state.
  bool in_state_dict(const std::string& name) const override { return !name.ends_with("_ids"); }

 protected:
  /// The logits, and what else the original returns beside them.
  virtual Tensors answers(const Tensors& inputs) = 0;
  /// Fresh inputs without labels.
  virtual Tensors token_inputs(const ModelOptions& options) const { return {random_words(options)}; }
  /// Fresh labels.
  virtual torch::Tensor random_labels(const ModelOptions& options) const { return random_words(options); }
  int64_t length_of(const ModelOptions& options) const { return options.size_of("length", task_.tokens); }
  torch::Tensor random_words(const ModelOptions& options) const {
    return torch::randint(task_.vocabulary, {options.batch_size, length_of(options)}, torch::kInt64);
  }
  const TokenTask& task() const { return task_; }

 private:
  TokenTask task_;
};

/// A child that holds a weight which another module holds too, such as a head tied to the word embedding.
inline std::shared_ptr<torch::nn::Module> tied(const torch::Tensor& weight) {
  auto module = std::make_shared<torch::nn::Module>();
  module->register_parameter("weight", weight);
  return module;
}

}  // namespace torchstone
