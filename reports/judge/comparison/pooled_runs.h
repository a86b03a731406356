#pragma once
#include <vector>

#include "reports/record/json.h"

namespace torchstone::judge {

/// Several runs of the same code as one. Statuses, sizes and counts are those of the run that started last. A timing is
/// that of the processes of all runs in which the case is as it should be, so that it is known better than one run
/// knows it: processes whose threads lay elsewhere than those of the last run (reports/statistics/near_processes.h)
/// stay by themselves, or are left out. A run that timed a case in one process has given one.
///
/// Throws ReportError for two runs of different machines or libraries, and for the same run twice;
/// std::invalid_argument without a run.
Report pool_runs(std::vector<Report> runs);

}  // namespace torchstone::judge
