#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <torchstone/model.h>

namespace torchstone {

/// Parameters and buffers by their state_dict names, including the buffers that a state_dict omits. A tied tensor
/// appears under each of its names.
using State = std::map<std::string, torch::Tensor>;
State state_of(const Model& model);

/// Copies the parameters and buffers of `from` to those of `to` with the same name. Casts them to the dtype and device
/// of `to`. Throws std::invalid_argument when names or shapes differ.
void copy_state(const Model& from, Model& to);

// Generated weights and inputs. A value depends only on its tensor's name and shape, and has the same bits in C++ and
// in Python (tests/oracles/counter_fill.py). A model and its Python original can therefore be compared at any size
// without a file of weights.
//
// The generator is SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) at random
// positions. The key is FNV-1a-64 of the name. Element i (row-major) has the hash h = mix(key + (i + 1) *
// 0x9E3779B97F4A7C15). Its integer k = (h >> 40) - 2^23 is in [-2^23, 2^23). Values are integers converted to float32,
// multiplied once:
//   weights of 2 and more dimensions   k * float32(sqrt(4.5 / fan_in) * 2^-23), fan_in = elements / size(0);
//                                      the variance 1.5 / fan_in is between that for linear (1) and for ReLU layers (2)
//   running_var                        (2^24 + (k >> 1)) * 2^-24, in [0.75, 1.25)
//   norm weights (1-d `weight`)        (2^24 + (k >> 2)) * 2^-24, in [0.875, 1.125)
//   everything else (biases, means)    k * 2^-27, in [-1/16, 1/16)
//   float inputs                       k * float32(sqrt(3) * 2^-23): mean 0, variance 1
//   integer inputs below `high`        (h >> 33) mod high

/// Fills all floating-point parameters and buffers of the state_dict. Integer buffers and constants keep their values.
/// A tensor with several names is filled under the alphabetically first one.
void counter_fill(Model& model);
/// Returns a float32 input tensor of these sizes. Names are `input.0`, `input.1`, … by convention.
torch::Tensor counter_input(const std::string& name, const std::vector<int64_t>& sizes);
/// Returns an int64 input tensor with values in [0, high).
torch::Tensor counter_input(const std::string& name, const std::vector<int64_t>& sizes, int64_t high);

}  // namespace torchstone
