#pragma once
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/judge/history.h"
#include "reports/judge/level.h"
#include "reports/record/summary.h"

namespace torchstone::judge {

/// Returns one record for each case, by name and device; counts_instead() chooses among several. `AnyReport` is Report
/// or const Report, which has to outlive the pointers.
template <typename AnyReport>
auto cases_by_name(AnyReport& report) {
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
  /// new / old and its interval. Both ends equal the ratio for deterministic metrics. They are 0 and infinity if
  /// nothing bounds the ratio (a single reading, too few rounds).
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  Change change = Change::same;
  /// Chance of this loss or a larger one in a timing if nothing has changed. Against a single number: if no loss
  /// exceeds the tolerance.
  double chance_of_worse = 1;
  bool by_history = false, by_rounds = false;  ///< the deviation that judged a record of one process
  bool other_places = false;                   ///< threads shared a cache domain in one run only
  bool single_number = false;                  ///< the old value has no interval
  /// Factor by which the timing became faster or slower at least, if that is far (certain_factor()).
  std::optional<double> at_least = {};
};

struct CaseChange {
  std::string name;                           ///< of the case
  Change change = Change::same;               ///< the worst of its status and its own metrics
  std::string old_status, new_status;         ///< empty on the side that lacks the case
  bool status_worse = false;                  ///< it was as expected, and is not any more: BROKEN
  std::vector<MetricChange> metrics = {};     ///< in the order of the metric table
  bool old_noisy = false, new_noisy = false;  ///< in that run (reports/record/doubts.h)
  bool lost = false;                          ///< GONE, and the baseline had measured it with the expected status
  std::string other_parts = {};               ///< of a different model: "weights", "program" or "program and weights"
};

struct BaselineComparison {
  /// Worst first: BROKEN, lost, SLOWER, DIFFERENT MODEL, AMBIGUOUS, GONE, NEW, FIXED, FASTER, MORE, LESS, SAME; then
  /// by size.
  std::vector<CaseChange> cases;
  /// Reasons why timings are incomparable, one sentence each: another machine class, device, library version. They are
  /// of the runs, or of single cases if a report has results of several machines.
  std::vector<std::string> machine_differences;
  size_t timings_excluded = 0;       ///< because they were taken on different machines or with different torches
  bool excluded_by_machine = false;  ///< which of these excludes timings
  bool excluded_by_torch = false;
  /// "2.14.1 now, 2.13.0 in the baseline" if the releases of torch differ, also if timings are compared nevertheless.
  std::string torch_difference = {};
  /// Remarks on the comparison, one sentence each. Examples are other differences between the runs, the machine's
  /// drift, records of a single process, and a baseline of another kind.
  std::vector<std::string> notes = {};
  std::optional<Drift> drift = {};  ///< of the machine; known with three or more timed cases
};

/// Whether the case is BROKEN, SLOWER or lost.
bool is_worse(const CaseChange& change);
size_t count_worse(const BaselineComparison& comparison);
/// Returns the number of cases whose model is not the baseline's, whatever their change.
size_t count_other_models(const BaselineComparison& comparison);

struct BaselineOptions {
  double confidence = 0.95;  ///< of the intervals
  /// Chance that a comparison of unchanged code calls any timing SLOWER, if runs differ as their processes do. Runs
  /// differ a little more, so the default is a quarter of the intended 1 %.
  double family_error = 0.0025;
  double tolerance = 0.02;                 ///< a smaller change of a timing is SAME
  bool other_machine = false;              ///< compare timings despite machine_differences
  bool other_torch = false;                ///< compare timings despite torch_difference
  bool allow_absent = false;               ///< a case that only the baseline has is not lost
  bool single_numbers = false;             ///< the baseline is a table of numbers, of any machine
  std::vector<HistoryPoint> history = {};  ///< earlier runs, whose deviation is the least error
  std::vector<std::string> metrics = {};   ///< compare only these keys; empty: all that the metric table judges
};

/// Compares every case of both reports, matched by name and device, by the rules of docs/ci.md ("How two runs are
/// compared"). One of several records of a case counts (reports/record/summary.h). With `single_numbers` the old value
/// is a constant. A single reading is SAME up to 15 %, the band of PyTorch's dashboard (test-infra, compilerUtils).
/// Throws std::invalid_argument for a confidence outside (0, 1), a negative tolerance, an unknown metric.
BaselineComparison compare_with_baseline(const Report& baseline, const Report& report,
                                         const BaselineOptions& options = {});

// The steps of compare_with_baseline() that are in metric_change.cpp.

/// Judges one metric that both records have. settle_timings() settles the timings of all cases together afterwards.
MetricChange change_of(const MetricInfo& info, const Result& before, const Result& after,
                       const BaselineOptions& options, const RunToRunOfCases& history);

/// Settles which timings of all cases together are SLOWER, and which side of them moved. Less certain changes become
/// AMBIGUOUS. The hypothesis of a case is that its speed-up (without one, its compiled time) is not worse. Returns the
/// drift of the machine, by eager's times of all cases. A case of compiles has a hypothesis for each metric of
/// Judged::by_processes that counts for it. Eager is no reference for a case whose program is not the baseline's: such
/// a case is SLOWER if its speed-up is, or if its compiled time is by far.
std::optional<Drift> settle_timings(std::vector<CaseChange>& cases, const BaselineOptions& options);

/// Returns which parts of a model differ: "weights", "program" or "program and weights". Empty if none does, or if a
/// record lacks the digest.
std::string differing_model_parts(const ModelDigests& before, const ModelDigests& after);

/// Whether a change of the metric counts as a change of its case. Metrics of the eager side, single readings and
/// MetricInfo::only_shown metrics do not count.
bool counts_for_case(const std::string& metric);

/// Returns differences between the machines that make timings incomparable: processor, cores, governor, and every
/// fact of the build but torch (libraries, compiler, GPU, driver). Hosts may differ. With `of_several_machines` the
/// facts that machine_text() has are left to the comparison of each case.
std::vector<std::string> machine_differences(const RunInfo& baseline, const RunInfo& run,
                                             bool of_several_machines = false);
/// Whether the results of a report are of several machines.
bool has_several_machines(const Report& report);
/// Returns BaselineComparison::torch_difference; empty if both runs have the same torch.
std::string torch_difference(const RunInfo& baseline, const RunInfo& run);

}  // namespace torchstone::judge
