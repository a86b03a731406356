#pragma once
#include <algorithm>

#include <torchstone/model.h>

#include "models/blocks/basic_layers.h"

namespace torchstone {

constexpr int64_t ignored_label = -100;  // in the loss of transformers' heads

/// The labels of a head of transformers, and how its logits are compared with them.
enum class Labels {
  words,       ///< logits [N, L, words], labels [N, L]: the word at each position
  next_words,  ///< the same shapes, but each position predicts the next label
  classes,     ///< logits [N, classes], labels [N]
  span,        ///< two logits [N, L] and two labels [N]: the first and the last position of an answer
};

/// The program of upstream that a model of transformers runs in.
enum class Harness {
  huggingface,  ///< labels in inference too; trained on its own loss
  torchbench,   ///< labels only in training; trained on the mean of its logits (`reduce_to_scalar_loss`)
};

/// Returns the cross entropy of transformers' heads: the mean over all labels except -100. For next words, half
/// precision is converted to float32.
inline torch::Tensor label_loss(const torch::Tensor& logits, const torch::Tensor& labels, Labels kind) {
  auto scores = logits;
  auto targets = labels;
  if (kind == Labels::next_words) {
    scores = at_least_float32(logits);
    targets = torch::constant_pad_nd(labels, {0, 1}, ignored_label).slice(1, 1);  // without the first label
  }
  return torch::cross_entropy_loss(scores.reshape({-1, scores.size(-1)}), targets.reshape(-1), /*weight=*/{},
                                   torch::Reduction::Mean, ignored_label);
}

/// Returns the decoder's input for these labels: each position has the previous label, the first has `first_word`.
inline torch::Tensor shifted_right(const torch::Tensor& labels, int64_t first_word, int64_t padding_word) {
  const auto ids = torch::constant_pad_nd(labels, {1, -1}, first_word);
  return ids.masked_fill(ids.eq(ignored_label), padding_word);
}

/// Inputs and labels of a model of transformers.
struct TokenTask {
  int64_t vocabulary = 0, tokens = 0;
  int64_t longest = 0;  ///< largest number of tokens; 0: only `tokens`
  Labels labels = Labels::words;
  Harness harness = Harness::huggingface;
  size_t inputs = 1;  ///< without labels
};

/// A model of transformers. Inputs: token ids [N, tokens], int64 below the vocabulary's size, and the model's further
/// inputs. Forward returns the logits and the original's further outputs. With labels after the inputs, the loss comes
/// first.
class TokenModel : public Model {
 public:
  explicit TokenModel(const TokenTask& task) : task_(task) {}
  c10::IValue forward(const Tensors& inputs) final {
    const auto found = outputs(inputs);
    if (inputs.size() == task_.inputs && found.size() == 1) return found.front();
    std::vector<c10::IValue> parts(found.begin(), found.end());
    if (inputs.size() > task_.inputs) parts.insert(parts.begin(), loss_of(found, inputs));
    return c10::ivalue::Tuple::create(std::move(parts));
  }
  Tensors example_inputs(const ModelOptions& options) const final {
    auto inputs = token_inputs(options);
    if (options.mode == Mode::training || task_.harness == Harness::huggingface) {
      for (int i = 0; i < (task_.labels == Labels::span ? 2 : 1); ++i) inputs.push_back(random_labels(options));
    }
    return inputs;
  }
  /// Returns the length of the texts, if it may vary.
  std::vector<ModelDimension> dimensions() const override {
    if (task_.longest == 0) return {};
    return {{"length", task_.tokens, std::max<int64_t>(task_.tokens / 8, 2), task_.longest, 1}};
  }
  torch::Tensor loss(const c10::IValue& output) const final {
    if (!output.isTuple()) return Model::loss(output);
    const auto& parts = output.toTupleRef().elements();
    const bool labelled = parts[0].toTensor().dim() == 0;
    if (labelled && task_.harness == Harness::huggingface) return parts[0].toTensor();
    return Model::loss(parts[labelled ? 1 : 0]);
  }
  /// Returns false for tables of positions and types (`position_ids`).
  bool in_state_dict(const std::string& name) const override { return !name.ends_with("_ids"); }

 protected:
  /// Returns the logits and the original's further outputs.
  virtual Tensors outputs(const Tensors& inputs) = 0;
  /// Returns new inputs without labels.
  virtual Tensors token_inputs(const ModelOptions& options) const { return {random_words(options)}; }
  /// Returns new labels, of an answer's span the first or the last position.
  virtual torch::Tensor random_labels(const ModelOptions& options) const {
    if (task_.labels == Labels::span) return torch::randint(length_of(options), {options.batch_size}, torch::kInt64);
    return random_words(options);
  }
  int64_t length_of(const ModelOptions& options) const { return options.size_of("length", task_.tokens); }
  torch::Tensor random_words(const ModelOptions& options) const {
    return torch::randint(task_.vocabulary, {options.batch_size, length_of(options)}, torch::kInt64);
  }
  const TokenTask& task() const { return task_; }

 private:
  torch::Tensor loss_of(const Tensors& found, const Tensors& inputs) const {
    if (task_.labels != Labels::span) return label_loss(found.front(), inputs.back(), task_.labels);
    const auto first = label_loss(found.at(0), inputs.at(task_.inputs), Labels::classes);
    return (first + label_loss(found.at(1), inputs.back(), Labels::classes)) / 2;
  }

  TokenTask task_;
};

/// Returns a module with a weight of another module, such as a head tied to the word embedding.
inline std::shared_ptr<torch::nn::Module> tied(const torch::Tensor& weight) {
  auto module = std::make_shared<torch::nn::Module>();
  module->register_parameter("weight", weight);
  return module;
}

}  // namespace torchstone
