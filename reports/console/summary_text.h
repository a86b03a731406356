#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "reports/judge/tournament_ranking.h"

namespace torchstone::console {

/// Returns the closing summary in at most 27 lines of `width` columns: counts, averages and up to ten of the worst
/// cases. For the user's own model it has a sentence for each backend and mode instead. The last lines have the page to
/// open and the command that reproduces the first failure. They are never shortened.
std::string write_summary(const std::vector<Result>& results, const RunInfo& run,
                          const std::vector<std::string>& report_paths, size_t width = 160);

/// Returns a tournament as a table for the console. Variants are listed from the fastest; variants that were not timed
/// follow with status and reason. Below are the verdict, the best choice by the number of calls, and how to ship it.
std::string tournament_text(const judge::Tournament& tournament, size_t width, bool color);

/// Returns a sweep as a table for the console: which variant is the fastest at which batch size and thread count.
std::string sweep_text(const judge::Sweep& sweep);

}  // namespace torchstone::console
