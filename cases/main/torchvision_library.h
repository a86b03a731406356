#pragma once
#include "cases/flags/flags.h"

namespace torchstone {

/// Loads the operators of the torchvision that the compile workers' Python has. Throws std::runtime_error when it has
/// none, or one that does not load here.
void load_torchvision(const flags::Flags& flags);

}  // namespace torchstone
