#pragma once
#include <torchstone/run_info.h>

#include "cases/main/checks.h"

namespace torchstone {

/// --torchstone_tournament: for each model that the flags and GoogleTest's filter leave, runs every variant down
/// accuracy's ladder, has those that pass take turns, and ends the program. Prints a table of each model and writes
/// tournament.html and tournament.json. Exit codes: 0 when every model has a ranking, whatever became of single
/// variants; otherwise that of the failure, 3 when nothing was selected or nothing could be compared.
[[noreturn]] void run_tournament(Session& session, RunInfo& run);

}  // namespace torchstone
