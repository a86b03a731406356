#pragma once
#include <string>
#include <vector>

#include "reports/json.h"

namespace torchstone {

/// What became of a case, or of one of its metrics, since the baseline (the words of nvbench_compare).
enum class Change { same, faster, slower, ambiguous, added, gone };
/// SAME, FASTER, SLOWER, AMBIGUOUS, NEW, GONE. For sizes and counts FASTER means better and SLOWER worse.
std::string_view to_string(Change change);

/// One metric of one case, old against new.
struct MetricChange {
  std::string metric;  ///< key of reports/metric.h
  double old_value = 0, new_value = 0;
  /// new / old and its interval; equal to the ratio itself for metrics that are deterministic.
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  Change change = Change::same;
};

struct CaseChange {
  std::string name;  ///< of the case
  Change change = Change::same;
  std::string old_status, new_status;  ///< empty on the side that lacks the case
  bool status_worse = false;           ///< was as expected and is not any more
  std::vector<MetricChange> metrics;   ///< in the order of the metric table; only those that both sides have
};

struct Comparison {
  std::vector<CaseChange> cases;  ///< worst first: broken, SLOWER, AMBIGUOUS, GONE, NEW, FASTER, SAME
  /// What makes timings of the two incomparable, one sentence each: another machine class, device, library version.
  std::vector<std::string> machine_differences;
};

struct BaselineOptions {
  double confidence = 0.95;
  double tolerance = 0.02;     ///< a change of a timing below this part is SAME however sure it is
  bool other_machine = false;  ///< compare timings although machine_differences is not empty
};

/// Every case of both reports, matched by case name and device. With machine differences and without
/// `other_machine`, timings are left out of the comparison (statuses and deterministic metrics stay).
Comparison compare_with_baseline(const Report& baseline, const Report& report, const BaselineOptions& options = {});

}  // namespace torchstone
