#pragma once
#include <string>
#include <vector>

namespace torchstone::flags {

/// A warning for each variable of the environment that is nearly the twin of a flag: a misspelt one does nothing.
/// None in a child process, because its parent has said them.
std::vector<std::string> environment_warnings();

}  // namespace torchstone::flags
