#pragma once
#include <string_view>

namespace torchstone {

/// The version of Torchstone, as `project(VERSION)` in the top-level CMakeLists.txt has it: "0.1.0".
std::string_view version();

}  // namespace torchstone
