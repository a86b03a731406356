#include "models/blocks/token_model.h"

namespace torchstone {
namespace {

constexpr int64_t ignored_label = -100;

/// As many labels as before: the first one goes, and an ignored one comes at the end.
torch::Tensor shifted_left(const torch::Tensor& labels) {
  return torch::constant_pad_nd(labels, {0, 1}, ignored_label).slice(1, 1);
}

torch::Tensor widened(const torch::Tensor& logits) {
  return logits.scalar_type() == torch::kFloat64 ? logits : logits.to(torch::kFloat32);
}

}  // namespace

torch::Tensor label_loss(const torch::Tensor& logits, const torch::Tensor& labels, Labels kind) {
  const bool next = kind == Labels::next_words;
  const auto scores = next ? widened(logits) : logits;
  const auto targets = next ? shifted_left(labels) : labels;
  return torch::cross_entropy_loss(scores.reshape({-1, scores.size(-1)}), targets.reshape(-1), /*weight=*/{},
                                   torch::Reduction::Mean, ignored_label);
}

c10::IValue TokenModel::forward(const Tensors& inputs) {
  const auto scores = logits(inputs);
  if (inputs.size() == inputs_) return scores;
  return std::make_tuple(label_loss(scores, inputs.back(), labels_), scores);
}

Tensors TokenModel::example_inputs(const ModelOptions& options) const {
  auto inputs = token_inputs(options.batch_size);
  if (options.mode == Mode::training) inputs.push_back(random_labels(options.batch_size));
  return inputs;
}

torch::Tensor TokenModel::loss(const c10::IValue& output) const {
  return output.isTuple() ? output.toTupleRef().elements()[0].toTensor() : Model::loss(output);
}

}  // namespace torchstone
