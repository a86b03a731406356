#pragma once
#include <string>

namespace torchstone {

/// Loads a shared library whose static initialisers register models, backends, checks or report writers, and keeps it
/// loaded. Throws std::runtime_error: no such file, what the dynamic linker says, a name that is taken, or nothing
/// registered.
void load_plugin(const std::string& path);

}  // namespace torchstone
