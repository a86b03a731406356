#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>
#include <torchstone/model.h>

namespace torchstone::formats {

/// Replaces the internal operator aten::_convolution by the public conv1d … conv_transpose3d. The tracer records
/// _convolution with the switches for TF32 and determinism as constants; the public operators read the switches when
/// they run, as the model does, and autocast on the CPU knows them alone. LibTorch's replaceConvolutionWithAtenConv is
/// not used, because it also makes constants of the list arguments of other operators.
void replace_internal_convolutions(torch::jit::Graph& traced);

/// Constants of a TorchScript module that name a device: how many name another one than the module is on, and which.
struct ForeignDevices {
  size_t constants = 0;
  std::set<std::string> devices{};
};

/// Makes the constants in the graphs of all of the module's functions fit `device`: those of type Device (`device=` of
/// a trace) become it, and tensors are moved to it. With `dtype` floating-point tensors are cast, as buffers are. If
/// `dtype` is float64, the reference of other runs, arguments that ask for `own` (`dtype=` of a trace) ask for float64.
ForeignDevices move_constants(const torch::jit::Module& module, torch::Device device, std::optional<torch::Dtype> dtype,
                              torch::Dtype own);

/// The floating-point dtype of the first parameter, buffer or attribute that has one; float32 where none has.
torch::Dtype floating_dtype_of(const torch::jit::Module& module);

/// Gives all of the module's functions the public convolutions, so that they follow the switches of
/// the process and not those of the process that traced them.
void use_public_convolutions(const torch::jit::Module& module);

/// A copy of the graph of `forward` with all calls inlined.
std::shared_ptr<torch::jit::Graph> inlined_forward(const torch::jit::Module& module);

/// The tensors among the constants of a graph, including those of nested blocks.
std::vector<torch::Tensor> constant_tensors(torch::jit::Graph& graph);

/// What the operators say of the mode that a file was saved in: a constant argument `train` or `training`. A scripted
/// file asks `self.training` instead, and both are empty. "aten::dropout (net.py:12)".
struct SavedMode {
  std::string trains{}, evaluates{};
};
SavedMode saved_mode(torch::jit::Graph& graph);

/// "net.py:12" of the user's Python, where the node knows it.
std::string python_place(const torch::jit::Node& node);

/// `forward` of a TorchScript module, run operator by operator as Python's eager mode runs it: nothing is fused, no
/// gradient is TorchScript's own, and autocast and a tracer see each operator.
class ScriptProgram {
 public:
  explicit ScriptProgram(torch::jit::Module module);

  /// Follows the module, which was moved or cast: see move_constants(). What is not given stays as it is.
  ForeignDevices place(std::optional<torch::Device> device, std::optional<torch::Dtype> dtype);
  /// Throws std::runtime_error with the cause as the first line (with_cause_first()), c10::OutOfMemoryError without
  /// memory, c10::Error for another number or other kinds of inputs.
  c10::IValue run(const Tensors& inputs) const;

  torch::Device device() const { return device_; }
  const torch::jit::Module& module() const { return module_; }
  SavedMode mode() const;
  /// See DropoutRates (models/core).
  size_t set_dropout_rate(double rate);

 private:
  torch::jit::Module module_;
  torch::Dtype own_dtype_;
  torch::Device device_ = torch::kCPU;
  std::optional<torch::Dtype> dtype_{};
  std::optional<double> dropout_rate_{};
  torch::jit::Code code_;

  size_t prepare();
};

}  // namespace torchstone::formats
