#pragma once
#include <string>

#include <torchstone/run_info.h>

namespace torchstone {

/// What this machine is, from the files under `root`/proc, `root`/sys and `root`/etc. `host` is a hash: results are
/// compared by machine without giving its name away. A fact that cannot be read is absent.
Facts machine_facts(const std::string& root = "");

}  // namespace torchstone
