#include "models/core/loss.h"

#include <stdexcept>

#include "models/core/tree.h"

namespace torchstone {

torch::Tensor reduce_to_scalar_loss(const c10::IValue& output) {
  if (output.isTensor()) return output.toTensor().sum() / static_cast<double>(output.toTensor().numel());
  if (!is_container(output)) throw std::invalid_argument("no scalar loss for an output of type " + output.tagKind());
  const auto children = children_of(output);
  if (children.empty()) throw std::invalid_argument("an empty output has no loss");
  torch::Tensor sum;
  for (const auto& child : children) {
    const auto loss = reduce_to_scalar_loss(child.value);
    sum = sum.defined() ? sum + loss : loss;
  }
  return sum / static_cast<double>(children.size());
}

}  // namespace torchstone
