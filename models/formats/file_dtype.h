#pragma once
#include <set>
#include <string>

#include <torch/torch.h>

namespace torchstone::formats {

/// The floating-point dtypes of a model's file, each once: those of its parameters, buffers and inputs, and of
/// constants that a cast of the model would change. `inputs_path` as for script_model_info(). Throws std::exception
/// where the file cannot be read.
std::set<c10::ScalarType> dtypes_of_file(const std::string& path, const std::string& inputs_path);

}  // namespace torchstone::formats
