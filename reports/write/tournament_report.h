#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

#include "reports/judge/tournament_ranking.h"

namespace torchstone::write {

/// Writes tournament.json, schema "torchstone/tournament/1": the run, its sweeps, and each model. A model has its
/// verdict, its advice by number of calls, and every variant with row, samples and intervals. As for results.json, the
/// number in the schema grows if a reader of the old form would misunderstand the new one.
std::string write_tournament_json(const std::vector<judge::Tournament>& tournaments, const RunInfo& run);

/// Writes tournament.html, a self-contained page without a script. Each model has its verdict, bars with intervals,
/// advice by number of calls, ways to ship, plots of the front, all numbers, and the variants that were not timed.
std::string write_tournament_page(const std::vector<judge::Tournament>& tournaments, const RunInfo& run);

}  // namespace torchstone::write
