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
/// or const Report. It must outlive the pointers.
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
  /// Probability of this loss or a larger one if the timing did not change. Against a single number: if its true loss
  /// is within the tolerance.
  double chance_of_worse = 1;
  bool by_history = false, by_rounds = false;  ///< source of the deviation for a record of one process
  bool other_places = false;                   ///< the threads shared a cache domain in only one of both runs
  bool single_number = false;                  ///< the old value has no interval
  /// Factor by which the timing became faster or slower at least, if that is far (certain_factor()).
  std::optional<double> at_least = {};
};

/// Parts of a model that differ from the baseline's.
struct ModelParts {
  bool program = false, weights = false;
  bool any() const { return program || weights; }
  /// Returns "weights", "program" or "program and weights"; empty without any.
  std::string words() const;
  bool operator==(const ModelParts&) const = default;
};

struct CaseChange {
  std::string name;                           ///< of the case
  Change change = Change::same;               ///< the worst change of its status and its metrics
  std::string old_status, new_status;         ///< empty on the side that lacks the case
  bool status_worse = false;                  ///< it was as expected, and is not any more: BROKEN
  std::vector<MetricChange> metrics = {};     ///< in the order of the metric table
  bool old_noisy = false, new_noisy = false;  ///< speed-up noisy in that run (reports/record/doubts.h)
  bool lost = false;                          ///< GONE, and the baseline had measured it with the expected status
  ModelParts other_parts = {};                ///< of a different model
};

struct BaselineComparison {
  /// Worst first: BROKEN, lost, SLOWER, DIFFERENT MODEL, AMBIGUOUS, GONE, NEW, FIXED, FASTER, MORE, LESS, SAME; then
  /// by size.
  std::vector<CaseChange> cases;
  /// Reasons why timings are incomparable, one sentence each: another machine class, device, library version. They
  /// concern whole runs, or single cases if a report has results of several machines.
  std::vector<std::string> machine_differences;
  size_t timings_excluded = 0;       ///< number excluded because machine or torch differ
  bool excluded_by_machine = false;  ///< the machine is a reason to exclude timings
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
  /// Probability that a comparison of unchanged code calls any timing SLOWER, if runs vary no more than their
  /// processes. Runs vary a little more, so the default is a quarter of the intended 1 %.
  double family_error = 0.0025;
  double tolerance = 0.02;                 ///< a smaller change of a timing is SAME
  bool other_machine = false;              ///< compare timings despite machine_differences
  bool other_torch = false;                ///< compare timings despite torch_difference
  bool allow_absent = false;               ///< a case that only the baseline has is not lost
  bool single_numbers = false;             ///< the baseline is a table of numbers, of any machine
  std::vector<HistoryPoint> history = {};  ///< earlier runs, whose deviation bounds each error from below
  std::vector<std::string> metrics = {};   ///< compare only these keys; empty: all that the metric table judges
};

/// Compares every case of both reports, matched by name and device, by the rules of docs/ci.md ("How two runs are
/// compared"). Of several records of a case, one counts (reports/record/summary.h). With `single_numbers` the old value
/// is a constant. A metric measured only once is SAME up to 15 %, the band of PyTorch's dashboard (test-infra,
/// compilerUtils). Throws std::invalid_argument for a confidence outside (0, 1), a negative tolerance, or an unknown
/// metric.
BaselineComparison compare_with_baseline(const Report& baseline, const Report& report,
                                         const BaselineOptions& options = {});

// The steps of compare_with_baseline() that are in metric_change.cpp.

/// Judges one metric that both records have. Verdicts on timings are provisional until settle_timings() has run.
MetricChange change_of(const MetricInfo& info, const Result& before, const Result& after,
                       const BaselineOptions& options, const RunToRunOfCases& history);

/// Decides for all cases together which timings are SLOWER, and whether compiled code, eager or the machine changed.
/// Less certain changes become AMBIGUOUS. Returns the drift of the machine, estimated from eager's times of all cases.
///
/// Each case tests the hypothesis that its speed-up (without one, its compiled time) is not worse. A compile_time case
/// has one hypothesis for each metric of Judged::by_processes that counts. If the program differs from the baseline's,
/// eager is no reference: the case is SLOWER if its speed-up is, or if its compiled time is slower by far.
std::optional<Drift> settle_timings(std::vector<CaseChange>& cases, const BaselineOptions& options);

/// Returns which parts of a model differ. A part without a digest in either record does not.
ModelParts differing_model_parts(const ModelDigests& before, const ModelDigests& after);

/// Whether a change of the metric counts as a change of its case. Metrics of the eager side, single readings and
/// MetricInfo::only_shown metrics do not count.
bool counts_for_case(const std::string& metric);

/// Returns differences between the machines that make timings incomparable: processor, cores, governor, and every
/// fact of the build except torch (libraries, compiler, GPU, driver). Hosts may differ. With `of_several_machines` it
/// skips the facts in machine_text(), because each case is compared by these.
std::vector<std::string> machine_differences(const RunInfo& baseline, const RunInfo& run,
                                             bool of_several_machines = false);
/// Whether the results of a report come from several machines.
bool has_several_machines(const Report& report);
/// Returns BaselineComparison::torch_difference; empty if both runs have the same torch.
std::string torch_difference(const RunInfo& baseline, const RunInfo& run);

}  // namespace torchstone::judge
