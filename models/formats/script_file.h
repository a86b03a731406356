#pragma once
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchstone::formats {

/// Reads a TorchScript file onto the CPU. Throws std::runtime_error with the file and what was expected.
torch::jit::Module load_script(const std::string& path);

/// Reads the positional arguments of forward: a list or tuple of tensors, None, numbers and strings, or a single
/// tensor. Throws PickleError when the file cannot be read, and std::runtime_error when it holds something else or no
/// tensor.
std::vector<c10::IValue> load_inputs(const std::string& path);

}  // namespace torchstone::formats
