#pragma once
#include "cases/main/checks.h"

namespace torchstone {

/// Refuses flags that --torchstone_print_program does not go with. Throws ConfigError.
void require_printable(const flags::Flags& flags);

/// --torchstone_print_program: prints the captured programs of the cases that the flags and GoogleTest's filter leave,
/// each program once, and ends the program. Exit codes: that of a run whose cases end so, where a model cannot be
/// captured; 3 where no case is selected.
[[noreturn]] void print_programs(Session& session);

}  // namespace torchstone
