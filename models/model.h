#pragma once
#include <vector>

#include <torch/torch.h>

#include "models/options.h"

namespace torchstone {

using Tensors = std::vector<torch::Tensor>;

/// A model of the zoo. Its children carry the names of the Python original's state_dict.
class Model : public torch::nn::Module {
 public:
  /// Inputs as from `example_inputs` → a tensor, or a tuple, list or dict of tensors.
  virtual c10::IValue forward(const Tensors& inputs) = 0;
  /// Fresh random inputs on the CPU, float32 or int64, drawn from torch's default generator.
  virtual Tensors example_inputs(const ModelOptions& options) const = 0;
  /// Scalar training loss of one output; by default upstream's `reduce_to_scalar_loss` (see models/loss.h).
  virtual torch::Tensor loss(const c10::IValue& output) const;
  /// The TorchScript module behind `forward`, when the model is one (a .pt file); nullptr otherwise.
  virtual const torch::jit::Module* script() const { return nullptr; }
};

}  // namespace torchstone
