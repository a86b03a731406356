#pragma once
#include <string>

namespace torchstone {

/// The value of an environment variable; empty when it is not set.
std::string environment_variable(const char* name);

}  // namespace torchstone
