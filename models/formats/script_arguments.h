#pragma once
#include <vector>

#include <torch/script.h>

namespace torchstone::formats {

/// Specialises `forward` for the positional arguments that it is called with: those that are tensors stay, in order,
/// and all others become constants, also those that are left out and have a default. A branch on an Optional argument
/// is decided by that. Throws std::invalid_argument naming the argument that is missing, or has another type.
void fix_arguments(const torch::jit::Module& module, const std::vector<c10::IValue>& arguments);

}  // namespace torchstone::formats
