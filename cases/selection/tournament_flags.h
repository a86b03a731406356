#pragma once
#include "cases/flags/flags.h"

namespace torchstone::selection {

/// Throws ConfigError for flags that a tournament does not go with, and where GoogleTest's variables make this process
/// one of several shards.
void require_tournament_flags(flags::Flags& flags);

}  // namespace torchstone::selection
