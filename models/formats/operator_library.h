#pragma once
#include <string>
#include <vector>

namespace torchstone::formats {

/// Loads a shared library of operators (TORCH_LIBRARY), as torch.ops.load_library does. Throws std::runtime_error when
/// there is no such file, the loader refuses it, or it registers no operator.
void load_operator_library(const std::string& path);

/// What this process has loaded, in that order: a compile worker needs the same.
const std::vector<std::string>& operator_libraries();

}  // namespace torchstone::formats
