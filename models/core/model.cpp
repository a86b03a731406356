#include <set>

#include <torchstone/model.h>

#include "models/core/loss.h"
#include "models/core/registry.h"

namespace torchstone {
namespace {

void cast(torch::Tensor tensor, torch::Dtype dtype, bool non_blocking) {
  if (tensor.is_floating_point() || tensor.is_complex()) tensor.set_data(tensor.to(dtype, non_blocking));
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

int64_t count_parameters(const Model& model) {
  std::set<const c10::TensorImpl*> seen;
  int64_t count = 0;
  for (const auto& parameter : model.parameters()) {
    if (seen.insert(parameter.unsafeGetTensorImpl()).second) count += parameter.numel();
  }
  return count;
}

}  // namespace torchstone
