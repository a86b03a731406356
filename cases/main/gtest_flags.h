#pragma once
#include <string>
#include <vector>

#include "cases/flags/flags.h"

namespace torchstone {

/// Throws ConfigError for variables of shards that GoogleTest would refuse: it ends the program with exit code 1, which
/// is that of a red case.
void require_shards();

/// Throws ConfigError for flags of GoogleTest that the program cannot do justice to. `arguments`: the command line
/// before GoogleTest took its flags; a tournament refuses what stands there and would do nothing.
void require_gtest_flags(const flags::Flags& flags, const std::vector<std::string>& arguments);

}  // namespace torchstone
