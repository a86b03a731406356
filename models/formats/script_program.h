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
/// they run, as the model does. Autocast on the CPU supports only the public ones. LibTorch's
/// replaceConvolutionWithAtenConv is not used, because it also turns list arguments of other operators into constants.
void replace_internal_convolutions(torch::jit::Graph& traced);

/// Constants of a TorchScript module that named another device than the module's.
struct ForeignDevices {
  size_t constants = 0;
  std::set<std::string> devices{};
};

/// Returns a copy of the graph of `forward` with all calls inlined.
std::shared_ptr<torch::jit::Graph> inlined_forward(const torch::jit::Module& module);

/// Returns the constant tensors of a graph and its nested blocks.
std::vector<torch::Tensor> constant_tensors(torch::jit::Graph& graph);

/// The first operators ("aten::dropout (net.py:12)") whose constant argument `train` or `training` shows the mode that
/// a file was saved in. Both are empty for a scripted file, which reads `self.training` instead.
struct SavedMode {
  std::string trains{}, evaluates{};
};

/// Returns "net.py:12" of the user's Python if the node records it, or an empty text.
std::string python_place(const torch::jit::Node& node);

/// `forward` of a TorchScript module, run operator by operator as in Python's eager mode. Nothing is fused, autograd
/// computes the gradients, and autocast and tracers apply to each operator.
class ScriptProgram {
 public:
  explicit ScriptProgram(torch::jit::Module module);

  /// Adapts constants to a module that was moved or cast. Keeps a device or dtype that is omitted.
  ForeignDevices place(std::optional<torch::Device> device, std::optional<torch::Dtype> dtype);
  /// Throws std::runtime_error with the cause as the first line (with_cause_first()), c10::OutOfMemoryError when memory
  /// runs out, and c10::Error for another number or other types of inputs.
  c10::IValue run(const Tensors& inputs) const;

  torch::Device device() const { return device_; }
  const torch::jit::Module& module() const { return module_; }
  SavedMode mode() const;
  /// See DropoutRates (models/core).
  size_t set_dropout_rate(double rate);

 private:
  /// Rebuilds the code. Returns the number of dropouts whose rate was changed.
  size_t prepare();

  torch::jit::Module module_;
  torch::Dtype own_dtype_;
  torch::Device device_ = torch::kCPU;
  std::optional<torch::Dtype> dtype_{};
  std::optional<double> dropout_rate_{};
  torch::jit::Code code_;
};

}  // namespace torchstone::formats
