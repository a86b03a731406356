#pragma once
#include <optional>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/judge/change.h"
#include "reports/judge/level.h"

namespace torchstone::judge {

/// Judges one metric that both records have. settle_timings() settles the timings of all cases together afterwards.
MetricChange change_of(const MetricInfo& info, const Result& before, const Result& after,
                       const BaselineOptions& options, const RunToRunOfCases& history);

/// Settles which timings of all cases together are SLOWER. Less certain changes become AMBIGUOUS.
///
/// - A case has one hypothesis: its speed-up (without one, its compiled time) is not worse. The hypotheses of all cases
///   are one family. Holm's test limits the chance of any false SLOWER to `options.family_error`. It can only confirm
///   cases whose own interval is beyond the tolerance.
/// - A compiled time is SLOWER only with the speed-up. It is FASTER if the speed-up is, or if eager stayed. Otherwise
///   the machine may have changed, or one process of a run.
/// - A speed-up is not SLOWER if the compiled time certainly did not exceed the machine's drift: then eager became
///   faster.
///
/// Returns the drift of the machine, by eager's times of all cases.
std::optional<Drift> settle_timings(std::vector<CaseChange>& cases, const BaselineOptions& options);

}  // namespace torchstone::judge
