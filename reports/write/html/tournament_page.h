#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

#include "reports/judge/tournament/tournament.h"

namespace torchstone::write {

/// tournament.html: for each model the verdict, bars with intervals, what to take from how many calls on and how it
/// ships, the front as plots, all numbers, and what was not timed and why. One self-contained page without a script.
std::string write_tournament_page(const std::vector<judge::Tournament>& tournaments, const RunInfo& run);

}  // namespace torchstone::write
