#pragma once
#include <string>
#include <vector>

#include <torch/torch.h>
#include <torchstone/model_info.h>

namespace torch::jit {
struct Module;
}

namespace torchstone {

using Tensors = std::vector<torch::Tensor>;

/// Returns the tensors of a model's output, depth first: of a tensor, or of nested tuples, lists and dicts. Skips None,
/// numbers and strings. Throws std::invalid_argument for an object, which may hide tensors.
Tensors flatten(const c10::IValue& output);

/// A model: a torch::nn::Module with inputs and a loss. Where there is a Python original, the children carry the names
/// of its state_dict, so that its published weights fit.
class Model : public torch::nn::Module {
 public:
  /// Takes inputs of the number, sizes and dtypes of `example_inputs`, on the device of the parameters. Returns a
  /// tensor, or a tuple, list or dict of tensors, nested at will. What its first call throws becomes the status
  /// eager_fail_to_run.
  virtual c10::IValue forward(const Tensors& inputs) = 0;
  /// Fresh random inputs on the CPU for `options.batch_size` samples, drawn from torch's default generator, in the
  /// original's dtypes (float32, int64, …). Floating-point ones are cast to the dtype of the case. Two calls draw two
  /// different inputs. What it throws becomes the status model_fail_to_load.
  virtual Tensors example_inputs(const ModelOptions& options) const = 0;
  /// The dimensions of the inputs, other than the batch, that may vary, which example_inputs() reads from
  /// `options.sizes`. None, unless a model says otherwise. Parameters and buffers have the same shapes for all of them.
  virtual std::vector<ModelDimension> dimensions() const { return {}; }
  /// Returns the training loss of one output of forward: one number, as a 0-d tensor. The default is upstream's
  /// `reduce_to_scalar_loss` (PyTorch, torch/_dynamo/testing.py). For a tensor it is the sum divided by the number of
  /// elements, and for an output of several parts the mean over the parts. The default throws std::invalid_argument
  /// for an output that is empty or holds anything but tensors.
  virtual torch::Tensor loss(const c10::IValue& output) const;

  /// False for a buffer that the Python original keeps out of its state_dict (position tables, masks). `name` is the
  /// dotted name, as `named_buffers()` has it.
  virtual bool in_state_dict(const std::string& name) const;
  /// The TorchScript module behind the model; nullptr for a native one.
  virtual const torch::jit::Module* script() const;

  /// Casts floating-point parameters and buffers, as Python does: LibTorch's own Module casts integer buffers
  /// (position_ids, num_batches_tracked) as well. Complex ones stay complex: complex64 in float32, complex128 in
  /// float64, unchanged in 16 bits. Tensors keep their identity, so tied ones stay tied.
  void to(torch::Dtype dtype, bool non_blocking = false) override;
  void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) override;
  using torch::nn::Module::to;
};

}  // namespace torchstone
