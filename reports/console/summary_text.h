#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "reports/judge/tournament_ranking.h"

namespace torchstone::console {

/// The closing summary, at most 25 lines of `width` columns: counts, averages, the ten worst (fewer where those lines
/// would not do), and last what a person types next: the page to open and the command that reproduces the first
/// failure. These two are never shortened.
std::string write_summary(const std::vector<Result>& results, const RunInfo& run,
                          const std::vector<std::string>& report_paths, size_t width = 160);

/// A tournament as a table for the console: one line for each variant, the fastest first, then those that were not
/// timed with their status and reason; the verdict; from how many calls what is the best choice; and how it ships.
std::string tournament_text(const judge::Tournament& tournament, size_t width, bool color);

/// A sweep as a table for the console: which variant is the fastest at which batch size and thread count.
std::string sweep_text(const judge::Sweep& sweep);

}  // namespace torchstone::console
