#pragma once
#include <vector>

#include <torch/script.h>

namespace torchstone::formats {

/// Specialises `forward` for the positional arguments that it is called with. Tensors stay arguments, in order. All
/// others become constants, including the defaults of omitted arguments, which decides branches on Optional arguments.
/// Throws std::invalid_argument naming the argument that is missing or has another type.
void fix_arguments(const torch::jit::Module& module, const std::vector<c10::IValue>& arguments);

}  // namespace torchstone::formats
