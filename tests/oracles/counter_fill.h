#pragma once
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/core/model_state.h"

// Generated weights and inputs. A value depends only on its tensor's name and shape, and has the same bits in C++ and
// in Python (counter_fill.py). A model and its Python original can therefore be compared at any size without a file of
// weights.
//
// The generator is SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) with random
// access. The key is FNV-1a-64 of the name. Element i (row-major) has the hash
// h = mix(key + (i + 1) * 0x9E3779B97F4A7C15). Its integer k = (h >> 40) - 2^23 is in [-2^23, 2^23).
//
// Each value is an integer, converted to float32 and multiplied once:
//   weights of 2 or more dimensions    k * float32(sqrt(4.5 / fan_in) * 2^-23), fan_in = elements / size(0). The
//   variance
//                                      1.5 / fan_in is between those for linear layers (1) and for ReLU layers (2).
//   running_var                        (2^24 + (k >> 1)) * 2^-24, in [0.75, 1.25)
//   norm weights (1-d `weight`)        (2^24 + (k >> 2)) * 2^-24, in [0.875, 1.125)
//   everything else (biases, means)    k * 2^-27, in [-1/16, 1/16)
//   float inputs                       k * float32(sqrt(3) * 2^-23): mean 0, variance 1
//   integer inputs below `high`        (h >> 33) mod high

namespace torchstone {
namespace counter {

inline uint64_t hash_name(const std::string& name) {
  uint64_t key = 0xCBF29CE484222325;
  for (const char c : name) key = (key ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return key;
}

inline uint64_t draw(uint64_t key, uint64_t index) {
  uint64_t z = key + (index + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

inline int32_t signed_24_bits(uint64_t h) { return static_cast<int32_t>(h >> 40) - (1 << 23); }

/// A value is (offset + (k >> shift)) * scale. Rounds the integer (exact below 2^24) and the product.
struct Rule {
  int32_t offset;
  int shift;
  float scale;
};

inline float scaled(double bound) { return static_cast<float>(std::ldexp(bound, -23)); }

inline Rule initial_value_rule(const std::string& name, const torch::Tensor& tensor) {
  if (tensor.dim() > 1 && tensor.numel() > 0) {
    const auto fan_in = static_cast<double>(tensor.numel() / tensor.size(0));
    return {0, 0, scaled(std::sqrt(4.5 / fan_in))};
  }
  const auto last = name.substr(name.rfind('.') + 1);
  if (last == "running_var") return {1 << 24, 1, std::ldexp(1.0F, -24)};
  if (last == "weight") return {1 << 24, 2, std::ldexp(1.0F, -24)};
  return {0, 0, std::ldexp(1.0F, -27)};
}

inline torch::Tensor filled(const std::string& name, at::IntArrayRef sizes, Rule rule) {
  const auto tensor = torch::empty(sizes, torch::kFloat32);
  auto* values = tensor.data_ptr<float>();
  const auto key = hash_name(name);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const auto k = signed_24_bits(draw(key, static_cast<uint64_t>(i)));
    values[i] = static_cast<float>(rule.offset + (k >> rule.shift)) * rule.scale;
  }
  return tensor;
}

}  // namespace counter

/// Fills all floating-point parameters and buffers of the state_dict. Integer buffers and constants keep their values.
/// A tensor with several names is filled under the alphabetically first one.
inline void counter_fill(Model& model) {
  torch::NoGradGuard no_grad;
  std::set<const c10::TensorImpl*> done;
  for (auto& [name, tensor] : state_of(model)) {
    if (!tensor.is_floating_point() || !model.in_state_dict(name)) continue;
    if (!done.insert(tensor.unsafeGetTensorImpl()).second) continue;
    torch::Tensor(tensor).copy_(counter::filled(name, tensor.sizes(), counter::initial_value_rule(name, tensor)));
  }
}

/// Returns a float32 input tensor of these sizes. Names are `input.0`, `input.1`, … by convention.
inline torch::Tensor counter_input(const std::string& name, const std::vector<int64_t>& sizes) {
  return counter::filled(name, sizes, {0, 0, counter::scaled(std::sqrt(3.0))});
}

/// Returns an int64 input tensor with values in [0, high).
inline torch::Tensor counter_input(const std::string& name, const std::vector<int64_t>& sizes, int64_t high) {
  const auto tensor = torch::empty(sizes, torch::kInt64);
  auto* values = tensor.data_ptr<int64_t>();
  const auto key = counter::hash_name(name);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    values[i] = static_cast<int64_t>(counter::draw(key, static_cast<uint64_t>(i)) >> 33) % high;
  }
  return tensor;
}

}  // namespace torchstone
