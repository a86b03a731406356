#include "models/core/model_state.h"

#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <torchstone/model.h>

#include "models/core/model_registry.h"
#include "models/core/tree.h"

namespace torchstone {
namespace {

void cast(torch::Tensor tensor, torch::Dtype dtype, bool non_blocking) {
  const auto target = dtype_after_cast(tensor.scalar_type(), dtype);
  if (target != tensor.scalar_type()) tensor.set_data(tensor.to(target, non_blocking));
}

}  // namespace

torch::Tensor Model::loss(const c10::IValue& output) const { return reduce_to_scalar_loss(output); }

bool Model::in_state_dict(const std::string&) const { return true; }

const torch::jit::Module* Model::script() const { return nullptr; }

void Model::to(torch::Dtype dtype, bool non_blocking) {
  for (const auto& parameter : parameters()) cast(parameter, dtype, non_blocking);
  for (const auto& buffer : buffers()) cast(buffer, dtype, non_blocking);
}

void Model::to(torch::Device device, torch::Dtype dtype, bool non_blocking) {
  to(dtype, non_blocking);
  to(device, non_blocking);
}

torch::Dtype dtype_after_cast(torch::Dtype own, torch::Dtype dtype) {
  if (c10::isFloatingType(own)) return dtype;
  if (!c10::isComplexType(own)) return own;
  if (dtype == torch::kFloat || dtype == torch::kDouble) return c10::toComplexType(dtype);
  return c10::isComplexType(dtype) ? dtype : own;
}

int64_t count_parameters(const Model& model) {
  std::set<const c10::TensorImpl*> seen;
  int64_t count = 0;
  for (const auto& parameter : model.parameters()) {
    if (seen.insert(parameter.unsafeGetTensorImpl()).second) count += parameter.numel();
  }
  return count;
}

State state_of(const Model& model) {
  State state;
  for (const auto& item : model.named_parameters()) state[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) state[item.key()] = item.value();
  return state;
}

void copy_state(const Model& from, Model& to) { copy_state(state_of(from), to); }

void copy_state(const State& source, Model& to) {
  const State target = state_of(to);
  for (const auto& [name, tensor] : target) {
    const auto found = source.find(name);
    if (found == source.end()) throw std::invalid_argument(fmt::format("copy_state: the source has no {}", name));
    if (found->second.sizes() != tensor.sizes()) {
      throw std::invalid_argument(fmt::format("copy_state: {} is {} in the source and {} in the target", name,
                                              describe(found->second), describe(tensor)));
    }
  }
  for (const auto& [name, tensor] : source) {
    if (!target.contains(name)) throw std::invalid_argument(fmt::format("copy_state: the target has no {}", name));
  }
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : target) torch::Tensor(tensor).copy_(source.at(name));
}

}  // namespace torchstone
