#pragma once
#include <memory>
#include <optional>
#include <string>

#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>
#include <torchstone/model.h>

#include "models/formats/script_graph.h"

namespace torchstone::formats {

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
