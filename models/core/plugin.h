#pragma once
#include <string>

namespace torchstone {

/// Loads a shared library whose static initialisers register models (TORCHSTONE_MODEL), and keeps it loaded. Throws
/// std::runtime_error: no such file, what the dynamic linker says, a name that is taken, or no model registered.
void load_plugin(const std::string& path);

}  // namespace torchstone
