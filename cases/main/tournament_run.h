#pragma once
#include <cstddef>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/run_info.h>

#include "cases/main/session.h"

namespace torchstone {

/// Groups the selected cases by model, mode, dtype, device, preset, batch size and threads. Each group begins with the
/// case of eager, even if it was not selected, because the others are compared with it.
std::vector<std::vector<size_t>> groups_of_variants(const std::vector<Case>& cases,
                                                    const std::vector<size_t>& selected);

/// --torchstone_tournament: holds a tournament for each selected model and ends the program. Prints a table per model
/// and writes tournament.html and tournament.json. The exit code is 0 if every model has a ranking, even if single
/// variants failed. It is 3 if nothing was selected or could be compared, and otherwise the failure's exit code.
[[noreturn]] void run_tournament(Session& session, RunInfo& run);

}  // namespace torchstone
