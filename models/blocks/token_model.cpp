#include "models/blocks/token_model.h"

#include <algorithm>

namespace torchstone {
namespace {

constexpr int64_t ignored_label = -100;

/// Removes the first label and appends an ignored one.
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
  const auto found = outputs(inputs);
  if (inputs.size() == task_.inputs && found.size() == 1) return found.front();
  std::vector<c10::IValue> parts(found.begin(), found.end());
  if (inputs.size() > task_.inputs) parts.insert(parts.begin(), label_loss(found.front(), inputs.back(), task_.labels));
  return c10::ivalue::Tuple::create(std::move(parts));
}

Tensors TokenModel::example_inputs(const ModelOptions& options) const {
  auto inputs = token_inputs(options);
  if (options.mode == Mode::training || task_.harness == Harness::huggingface) inputs.push_back(random_labels(options));
  return inputs;
}

std::vector<ModelDimension> TokenModel::dimensions() const {
  if (task_.longest == 0) return {};
  return {{"length", task_.tokens, std::max<int64_t>(task_.tokens / 8, 2), task_.longest, 1}};
}

torch::Tensor TokenModel::loss(const c10::IValue& output) const {
  if (!output.isTuple()) return Model::loss(output);
  const auto& parts = output.toTupleRef().elements();
  const bool labelled = parts[0].toTensor().dim() == 0;
  if (labelled && task_.harness == Harness::huggingface) return parts[0].toTensor();
  return Model::loss(parts[labelled ? 1 : 0]);
}

}  // namespace torchstone
