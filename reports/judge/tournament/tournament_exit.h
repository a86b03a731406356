#pragma once
#include <vector>

#include "reports/judge/tournament/tournament.h"

namespace torchstone::judge {

/// Of one model that was judged. A variant that is out is no failure of the tournament; a model without a ranking is,
/// and so is a variant of which the infrastructure let nobody judge. `failed`: the status of a timing that failed as a
/// whole, or pass.
int exit_code_of_model(const Tournament& tournament, Status failed);

/// Of a run, from those of its models: what is worst to a reader, a wrong answer before the infrastructure, and that
/// before a model of which nothing was judged.
int exit_code_of_models(const std::vector<Tournament>& tournaments);

}  // namespace torchstone::judge
