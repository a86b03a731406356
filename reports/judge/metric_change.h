#pragma once
#include <optional>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/judge/change.h"
#include "reports/judge/level.h"

namespace torchstone::judge {

/// One metric that both records have, judged by itself. The timings of all cases are settled together afterwards.
MetricChange change_of(const MetricInfo& info, const Result& before, const Result& after,
                       const BaselineOptions& options, const RunToRunOfCases& history);

/// Settles which timings of all cases together are SLOWER; what stays less certain is AMBIGUOUS.
///
/// - A case has one hypothesis, that its speed-up is not worse (that its compiled time is not, where there is no
///   speed-up). Those of all cases are one family: Holm's test holds the chance of any false SLOWER of the whole
///   comparison to `options.family_error`. It settles those whose own interval lies beyond the tolerance.
/// - A compiled time is SLOWER where the speed-up is, FASTER where the speed-up is or eager stayed. Else it is the
///   machine that moved, or one run's process.
/// - A speed-up is not SLOWER when the compiled time is certainly no slower than the machine's drift makes it: then
///   eager itself became faster.
///
/// Returns the drift of the machine, by eager's times of all cases.
std::optional<Drift> settle_timings(std::vector<CaseChange>& cases, const BaselineOptions& options);

}  // namespace torchstone::judge
