#pragma once
#include <string>

#include <torch/script.h>
#include <torchstone/model.h>

namespace torchstone::formats {

/// Reads a TorchScript file onto the CPU. Throws std::runtime_error with the file and what was expected.
torch::jit::Module load_script(const std::string& path);

/// Reads the tensors that forward takes: a list or tuple of them, or a single one. Throws PickleError when the file
/// cannot be read, and std::runtime_error when it holds something else.
Tensors load_inputs(const std::string& path);

}  // namespace torchstone::formats
