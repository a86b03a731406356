#pragma once
#include <torch/torch.h>

namespace torchstone {

/// Keys and values of one layer, or of all of them: [N, (layers,) key heads, positions, D]; undefined when empty.
struct Cache {
  torch::Tensor keys, values;

  bool empty() const { return !keys.defined(); }
  /// Appends further positions of one layer.
  void append(const torch::Tensor& more_keys, const torch::Tensor& more_values) {
    if (empty()) {
      keys = more_keys;
      values = more_values;
    } else {
      keys = torch::cat({keys, more_keys}, 2);
      values = torch::cat({values, more_values}, 2);
    }
  }
};

}  // namespace torchstone
