#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

#include "reports/judge/tournament_ranking.h"

namespace torchstone::write {

/// tournament.json, schema "torchstone/tournament/1": the run, its sweeps (reports/judge/tournament_ranking.h), and for
/// each model the verdict, what to take from how many calls on, and every variant with its row, its samples and its
/// intervals. As of results.json, the number grows when a reader of the old form would misunderstand the new one.
std::string write_tournament_json(const std::vector<judge::Tournament>& tournaments, const RunInfo& run);

/// tournament.html: for each model the verdict, bars with intervals, what to take from how many calls on and how it
/// ships, the front as plots, all numbers, and what was not timed and why. One self-contained page without a script.
std::string write_tournament_page(const std::vector<judge::Tournament>& tournaments, const RunInfo& run);

}  // namespace torchstone::write
