#include "models/core/loss.h"

#include <stdexcept>
#include <vector>

namespace torchstone {
namespace {

torch::Tensor mean_loss(const std::vector<c10::IValue>& items) {
  if (items.empty()) throw std::invalid_argument("an empty output has no loss");
  torch::Tensor sum;
  for (const auto& item : items) {
    const auto loss = reduce_to_scalar_loss(item);
    sum = sum.defined() ? sum + loss : loss;
  }
  return sum / static_cast<double>(items.size());
}

}  // namespace

torch::Tensor reduce_to_scalar_loss(const c10::IValue& output) {
  if (output.isTensor()) return output.toTensor().sum() / static_cast<double>(output.toTensor().numel());
  if (output.isTuple()) return mean_loss(output.toTupleRef().elements().vec());
  if (output.isList()) return mean_loss(output.toListRef().vec());
  if (output.isTensorList()) return mean_loss(output.toListRef().vec());
  if (output.isGenericDict()) {
    std::vector<c10::IValue> values;
    for (const auto& entry : output.toGenericDict()) values.push_back(entry.value());
    return mean_loss(values);
  }
  throw std::invalid_argument("no scalar loss for an output of type " + output.tagKind());
}

}  // namespace torchstone
