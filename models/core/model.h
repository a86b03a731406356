#pragma once
#include <string>
#include <vector>

#include <torch/torch.h>

#include "models/core/options.h"

namespace torch::jit {
struct Module;
}

namespace torchstone {

using Tensors = std::vector<torch::Tensor>;

/// A model of the zoo. Its children carry the names of the Python original's state_dict.
class Model : public torch::nn::Module {
 public:
  /// Inputs as from `example_inputs` → a tensor, or a tuple, list or dict of tensors.
  virtual c10::IValue forward(const Tensors& inputs) = 0;
  /// Fresh random inputs on the CPU, drawn from torch's default generator: float32 or what else the original takes
  /// (float64, int64).
  virtual Tensors example_inputs(const ModelOptions& options) const = 0;
  /// Scalar training loss of one output; by default upstream's `reduce_to_scalar_loss` (see models/core/loss.h).
  virtual torch::Tensor loss(const c10::IValue& output) const;

  /// False for a buffer that the Python original keeps out of its state_dict (position tables, masks).
  virtual bool in_state_dict(const std::string& name) const;
  /// The TorchScript module behind the model; nullptr for a native one.
  virtual const torch::jit::Module* script() const;

  /// As in Python, a dtype is meant for floating-point and complex tensors only: LibTorch's own Module casts integer
  /// buffers (position_ids, num_batches_tracked) as well. Tensors keep their identity, so tied ones stay tied.
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) override;
  using torch::nn::Module::to;
};

}  // namespace torchstone
