#include "models/core/state.h"

#include <stdexcept>

#include <fmt/format.h>

#include "models/core/tree.h"

namespace torchstone {

State state_of(const Model& model) {
  State state;
  for (const auto& item : model.named_parameters()) state[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) state[item.key()] = item.value();
  return state;
}

void copy_state(const Model& from, Model& to) {
  const auto source = state_of(from), target = state_of(to);
  for (const auto& [name, tensor] : target) {
    const auto found = source.find(name);
    if (found == source.end()) throw std::invalid_argument(fmt::format("copy_state: the source has no {}", name));
    if (found->second.sizes() != tensor.sizes()) {
      throw std::invalid_argument(fmt::format("copy_state: {} is {} in the source and {} in the target", name,
                                              describe(found->second), describe(tensor)));
    }
  }
  if (source.size() != target.size()) {
    for (const auto& [name, tensor] : source) {
      if (!target.count(name)) throw std::invalid_argument(fmt::format("copy_state: the target has no {}", name));
    }
  }
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : target) torch::Tensor(tensor).copy_(source.at(name));
}

}  // namespace torchstone
