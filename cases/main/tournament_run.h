#pragma once
#include <vector>

#include <torchstone/run_info.h>

#include "cases/main/session.h"
#include "cases/selection/tournament_variants.h"
#include "reports/judge/tournament_ranking.h"

namespace torchstone {

/// The selected cases by model, mode, dtype, device, preset, batch size and threads: variants of one thing. Each group
/// has the case of eager first, also where it was not selected, because the others are compared with it.
std::vector<std::vector<size_t>> groups_of_variants(const std::vector<Case>& cases,
                                                    const std::vector<size_t>& selected);

/// The ladder for each variant that `file` does not leave out, then the turns of those that passed. Every row leaves
/// its record, also of those that are left out. What an error ends, the system's or the cache's, has it as `failure`,
/// and the exit code of the infrastructure. An interrupted one has no ranking; one that is not begun has no variants.
judge::Tournament hold_tournament(Session& session, const selection::Variants& file,
                                  const std::vector<size_t>& variants);

/// --torchstone_tournament: for each model that the flags and GoogleTest's filter leave, runs every variant down
/// accuracy's ladder, has those that pass take turns, and ends the program. Prints a table of each model and writes
/// tournament.html and tournament.json. Exit codes: 0 when every model has a ranking, whatever became of single
/// variants; otherwise that of the failure, 3 when nothing was selected or nothing could be compared.
[[noreturn]] void run_tournament(Session& session, RunInfo& run);

}  // namespace torchstone
