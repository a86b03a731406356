#pragma once
#include "reports/judge/comparison/level.h"

namespace torchstone::judge {

/// How a timing changed where the threads lay alike (reports/statistics/near_processes.h): processes whose threads lay
/// near to each other are compared with such processes, and those whose threads lay apart with theirs. The mean of both
/// changes, weighted by the number of processes. Nothing where the records have no such processes in common, or no
/// usable samples.
struct PlacedChange {
  LevelChange change;
  std::vector<LevelFrom> from;  ///< of the levels that it was made of
};
std::optional<PlacedChange> placed_change(const Result& before, const Result& after, const std::string& metric,
                                          const std::optional<RunToRun>& history);

}  // namespace torchstone::judge
