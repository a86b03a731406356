#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchstone::formats {

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

/// Gives all of the module's functions the public convolutions (convolutions.h), so that they follow the switches of
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

}  // namespace torchstone::formats
