#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "reports/judge/change.h"
#include "reports/record/json.h"

namespace torchstone::judge {

/// One metric of one case, old against new.
struct MetricChange {
  std::string metric;  ///< key of reports/record/metric.h
  double old_value = 0, new_value = 0;
  /// new / old and its interval; equal to the ratio itself for metrics that are deterministic, 0 and infinity where
  /// nothing bounds it (a single reading, too few rounds).
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  Change change = Change::same;
  bool single_number = false;  ///< the old value is one number without an interval; the interval is the new one's
};

struct CaseChange {
  std::string name;                        ///< of the case
  Change change = Change::same;            ///< the worst of its status and its own metrics
  std::string old_status, new_status;      ///< empty on the side that lacks the case
  bool status_worse = false;               ///< was as expected and is not any more
  std::vector<MetricChange> metrics = {};  ///< in the order of the metric table; only those that both sides have
};

struct BaselineComparison {
  std::vector<CaseChange> cases;  ///< worst first: broken, SLOWER, AMBIGUOUS, GONE, NEW, FASTER, SAME; then by size
  /// What makes timings of the two incomparable, one sentence each: another machine class, device, library version.
  std::vector<std::string> machine_differences;
  size_t timings_left_out = 0;          ///< that both sides have, but that were taken on different machines
  std::vector<std::string> notes = {};  ///< what a baseline of another kind means, one sentence each
};

struct BaselineOptions {
  double confidence = 0.95;
  double tolerance = 0.02;     ///< a change of a timing below this part is SAME however sure it is
  bool other_machine = false;  ///< compare timings although machine_differences is not empty
  /// Of a baseline that is a table of single numbers: each is taken as it stands, whatever machine it comes from.
  bool single_numbers = false;
  std::vector<std::string> metrics = {};  ///< only these keys; empty: all that the metric table says are judged
};

/// Every case of both reports, matched by case name and device; of several records the last counts. With machine
/// differences and without `other_machine`, timings are left out of the comparison (statuses and deterministic metrics
/// stay).
///
/// Bytes and counts: any difference is a change, but for the slack that the metric table gives the artifact's size.
/// Speed-up: the paired rounds of each run have a median log ratio and its order-statistic interval; the change is the
/// difference of the two (reports/judge/change.h). Latency: the same of the log times. Both stand in results.json as
/// raw samples; without them there is no interval, and a change beyond the tolerance is AMBIGUOUS. With
/// `single_numbers` the old value is a constant, and the change has the interval of the new one. What differs between
/// two processes on one machine is in no interval of one run: the tolerance has to cover it.
///
/// When eager and compiled moved the same way and their ratio stayed, the machine moved: such latencies are AMBIGUOUS
/// (nvbench_compare asks the same of the clock's cycles). A single reading (compile time) is SAME up to 15 %, the band
/// of the dashboard of PyTorch (test-infra, compilerUtils), otherwise AMBIGUOUS: one timing is no verdict.
///
/// A case's own verdict takes neither single readings nor the metrics of the eager side, which is the yardstick. A case
/// that was measured and is now left out (skipped) is GONE, the reverse NEW.
///
/// Throws std::invalid_argument for a confidence outside (0, 1), a negative tolerance, an unknown metric.
BaselineComparison compare_with_baseline(const Report& baseline, const Report& report,
                                         const BaselineOptions& options = {});

/// The eager side is the yardstick: its moves never make a case red.
bool is_of_eager(const std::string& metric);

/// What differs between the machines of two runs, and matters to timings: processor, its cores and governor, and every
/// fact of the build (libraries, compiler, GPU, driver). The host itself may be another one.
std::vector<std::string> machine_differences(const RunInfo& baseline, const RunInfo& run);

}  // namespace torchstone::judge
