#pragma once
#include <set>
#include <string>
#include <vector>

#include <torch/script.h>

namespace torchstone::formats {

/// The floating-point dtypes of a script that is called with `arguments`, each once: those of its parameters, buffers
/// and inputs, and of constants that a cast of the model would change.
std::set<c10::ScalarType> dtypes_of_script(const torch::jit::Module& module, const std::vector<c10::IValue>& arguments);

/// The same for an exported program. Reads the program and the metadata of its tensors, not their values. Throws
/// std::exception where the file cannot be read.
std::set<c10::ScalarType> dtypes_of_exported(const std::string& path);

}  // namespace torchstone::formats
