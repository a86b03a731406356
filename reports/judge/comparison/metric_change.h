#pragma once
#include "reports/judge/comparison/baseline.h"
#include "reports/judge/comparison/level.h"

namespace torchstone::judge {

/// One metric that both records have, judged by itself. The timings of all cases are settled together afterwards
/// (reports/judge/comparison/timing_rules.h).
MetricChange change_of(const MetricInfo& info, const Result& before, const Result& after,
                       const BaselineOptions& options, const RunToRunOfCases& history);

}  // namespace torchstone::judge
