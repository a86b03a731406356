#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/judge/change.h"
#include "reports/judge/history.h"
#include "reports/record/report_json.h"
#include "reports/record/summary.h"

namespace torchstone::judge {

/// The record that stands for each case, by name and device (reports/record/summary.h). `AnyReport` is Report or
/// const Report, which has to outlive the pointers.
template <typename AnyReport>
auto cases_of(AnyReport& report) {
  std::map<std::pair<std::string, std::string>, decltype(report.results.data())> cases;
  for (auto& result : report.results) {
    const auto [place, is_new] = cases.emplace(std::pair(result.name, result.device), &result);
    if (!is_new && counts_instead(result, *place->second)) place->second = &result;
  }
  return cases;
}

/// One metric of one case, old against new.
struct MetricChange {
  std::string metric;  ///< key of reports/record/metric.h
  double old_value = 0, new_value = 0;
  /// new / old and its interval; equal to the ratio itself for metrics that are deterministic, 0 and infinity where
  /// nothing bounds it (a single reading, too few rounds).
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  Change change = Change::same;
  /// Of a timing: the chance to see such a loss, or a larger one, when nothing has changed; against a single number,
  /// when there is none beyond the tolerance.
  double chance_of_worse = 1;
  bool by_history = false, by_rounds = false;  ///< what a record of one process was judged with
  bool other_places = false;   ///< of a timing: the threads lay near to each other in one run and apart in the other
  bool single_number = false;  ///< the old value is one number without an interval; the interval is the new one's
};

struct CaseChange {
  std::string name;                           ///< of the case
  Change change = Change::same;               ///< the worst of its status and its own metrics
  std::string old_status, new_status;         ///< empty on the side that lacks the case
  bool status_worse = false;                  ///< was as expected and is not any more
  std::vector<MetricChange> metrics = {};     ///< in the order of the metric table; only those that both sides have
  bool old_noisy = false, new_noisy = false;  ///< its speed-up says too little there (reports/record/doubts.h)
  bool lost = false;                          ///< GONE, and the baseline had measured it with the expected status
  std::string other_parts = {};               ///< of Change::other_model: "weights", "program" or "program and weights"
};

struct BaselineComparison {
  /// Worst first: broken, DIFFERENT MODEL, lost, SLOWER, AMBIGUOUS, GONE, NEW, FASTER, SAME; then by size.
  std::vector<CaseChange> cases;
  /// What makes timings of the two incomparable, one sentence each: another machine class, device, library version.
  std::vector<std::string> machine_differences;
  size_t timings_left_out = 0;  ///< that both sides have, but that were taken on different machines
  /// What the comparison means, one sentence each: what else differs between the runs, the machine's drift, records of
  /// one process, a baseline of another kind.
  std::vector<std::string> notes = {};
  std::optional<Drift> drift = {};  ///< of the machine, with three timed cases and more
};

/// BROKEN, SLOWER, or lost.
bool is_worse(const CaseChange& change);
size_t count_worse(const BaselineComparison& comparison);
size_t count_other_models(const BaselineComparison& comparison);

struct BaselineOptions {
  double confidence = 0.95;  ///< of the intervals that are shown, and by which changes are told
  /// Chance that a comparison of unchanged code calls any timing SLOWER, where runs differ as their processes do. They
  /// differ by a little more, so it is a quarter of what is wanted, 1 %.
  double family_error = 0.0025;
  double tolerance = 0.02;     ///< a change of a timing below this part is SAME however sure it is
  bool other_machine = false;  ///< compare timings although machine_differences is not empty
  bool allow_absent = false;   ///< a case that only the baseline has is GONE, but not lost
  /// Of a baseline that is a table of single numbers: each is taken as it stands, whatever machine it comes from.
  bool single_numbers = false;
  std::vector<HistoryPoint> history = {};  ///< earlier runs: the least error of any record
  std::vector<std::string> metrics = {};   ///< only these keys; empty: all that the metric table says are judged
};

/// Every case of both reports, matched by case name and device; of several records one counts
/// (reports/record/summary.h). With machine differences and without `other_machine`, timings are left out of the
/// comparison (statuses and deterministic metrics stay).
///
/// Bytes and counts: any difference is a change, but for the slack that the metric table gives the artifact's size.
/// Timings: each record has a level, the mean over its processes of their median logarithm, and the error that another
/// process would make of it (reports/judge/level.h). The interval of a change is Welch's. With
/// `single_numbers` the old value is a constant. Raw samples stand in results.json; without them, or with too few
/// rounds, there is no interval, and the timing is AMBIGUOUS however near the two numbers are. SLOWER needs two things:
/// the case's own interval lies beyond the tolerance, and all cases together say at the error `family_error` that
/// something changed; and apart from what eager and the machine did (reports/judge/metric_change.h).
///
/// A single reading (compile time) is SAME up to 15 %, the band of the dashboard of PyTorch (test-infra,
/// compilerUtils), otherwise AMBIGUOUS: one timing is no verdict.
///
/// A case's own verdict takes neither single readings nor the metrics of the eager side, which is the yardstick. A case
/// that was measured and is now left out (skipped, unsupported) is GONE, the reverse NEW.
///
/// Where both records have digests of the model and these differ, the case is DIFFERENT MODEL, and nothing else about
/// it is compared. A record without digests (of an older version, or one that ended before its model was loaded) is
/// compared as it is.
///
/// Throws std::invalid_argument for a confidence outside (0, 1), a negative tolerance, an unknown metric.
BaselineComparison compare_with_baseline(const Report& baseline, const Report& report,
                                         const BaselineOptions& options = {});

/// Which parts of a model differ: "weights", "program" or "program and weights". Empty where none does, or where one of
/// the records does not know.
std::string other_parts_of(const ModelDigests& before, const ModelDigests& after);

/// The eager side is the yardstick: its moves never make a case red.
bool is_of_eager(const std::string& metric);

/// What differs between two runs, matters to timings, and does not forbid to compare them, one sentence each:
/// variables, threads, load, other facts of the machine.
std::vector<std::string> other_differences(const Report& baseline, const Report& report);

/// What differs between the machines of two runs, and matters to timings: processor, its cores and governor, and every
/// fact of the build (libraries, compiler, GPU, driver). The host itself may be another one.
std::vector<std::string> machine_differences(const RunInfo& baseline, const RunInfo& run);

}  // namespace torchstone::judge
