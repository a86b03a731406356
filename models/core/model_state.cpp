#include "models/core/model_state.h"

#include <cmath>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <torchstone/model.h>

#include "models/core/model_registry.h"
#include "models/core/tree.h"

namespace torchstone {
namespace {

void cast(torch::Tensor tensor, torch::Dtype dtype, bool non_blocking) {
  if (tensor.is_floating_point() || tensor.is_complex()) tensor.set_data(tensor.to(dtype, non_blocking));
}

uint64_t hash_name(const std::string& name) {
  uint64_t key = 0xCBF29CE484222325;
  for (const char c : name) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return key;
}

uint64_t draw(uint64_t key, uint64_t index) {
  uint64_t z = key + (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

int32_t signed_24_bits(uint64_t h) { return static_cast<int32_t>(h >> 40) - (1 << 23); }

/// (offset + (k >> shift)) * scale, which rounds the integer (exact below 2^24) and the product.
struct Rule {
  int32_t offset;
  int shift;
  float scale;
};

float scaled(double bound) { return static_cast<float>(std::ldexp(bound, -23)); }

Rule initial_value_rule(const std::string& name, const torch::Tensor& tensor) {
  if (tensor.dim() > 1 && tensor.numel() > 0) {
    const auto fan_in = static_cast<double>(tensor.numel() / tensor.size(0));
    return {0, 0, scaled(std::sqrt(4.5 / fan_in))};
  }
  const auto last = name.substr(name.rfind('.') + 1);
  if (last == "running_var") return {1 << 24, 1, std::ldexp(1.0F, -24)};
  if (last == "weight") return {1 << 24, 2, std::ldexp(1.0F, -24)};
  return {0, 0, std::ldexp(1.0F, -27)};
}

torch::Tensor filled(const std::string& name, at::IntArrayRef sizes, Rule rule) {
  const auto tensor = torch::empty(sizes, torch::kFloat32);
  auto* values = tensor.data_ptr<float>();
  const auto key = hash_name(name);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const auto k = signed_24_bits(draw(key, static_cast<uint64_t>(i)));
    values[i] = static_cast<float>(rule.offset + (k >> rule.shift)) * rule.scale;
  }
  return tensor;
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
  for (const auto& [name, tensor] : source) {
    if (!target.contains(name)) throw std::invalid_argument(fmt::format("copy_state: the target has no {}", name));
  }
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : target) torch::Tensor(tensor).copy_(source.at(name));
}

void counter_fill(Model& model) {
  torch::NoGradGuard no_grad;
  std::set<const c10::TensorImpl*> done;
  for (auto& [name, tensor] : state_of(model)) {
    if (!tensor.is_floating_point() || !model.in_state_dict(name)) continue;
    if (!done.insert(tensor.unsafeGetTensorImpl()).second) continue;
    torch::Tensor(tensor).copy_(filled(name, tensor.sizes(), initial_value_rule(name, tensor)));
  }
}

torch::Tensor counter_input(const std::string& name, const std::vector<int64_t>& sizes) {
  return filled(name, sizes, {0, 0, scaled(std::sqrt(3.0))});
}

torch::Tensor counter_input(const std::string& name, const std::vector<int64_t>& sizes, int64_t high) {
  const auto tensor = torch::empty(sizes, torch::kInt64);
  auto* values = tensor.data_ptr<int64_t>();
  const auto key = hash_name(name);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    values[i] = static_cast<int64_t>(draw(key, static_cast<uint64_t>(i)) >> 33) % high;
  }
  return tensor;
}

}  // namespace torchstone
