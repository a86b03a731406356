#pragma once
#include <vector>

#include "cases/main/checks.h"
#include "cases/selection/tournament.h"
#include "reports/judge/tournament.h"

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

/// Of one model. A variant that is out is no failure of the tournament; a model without a ranking is, and so is a
/// variant of which the infrastructure let nobody judge. `failed`: the status of a timing that failed as a whole.
int exit_code_of_model(const std::vector<judge::Entrant>& entrants, bool ranked, Status failed);

/// Of a run, from those of its models: what is worst to a reader, a wrong answer before the infrastructure, and that
/// before a model of which nothing was judged.
int exit_code_of_models(const std::vector<judge::Tournament>& tournaments);

}  // namespace torchstone
