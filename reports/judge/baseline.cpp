#include "reports/judge/baseline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/run_facts.h"

namespace torchstone::judge {
namespace {

/// Facts that other_differences() skips: machine_differences() compares them, or timings do not depend on them.
const std::set<std::string> ignored_facts = {"architecture", "cpu",          "cores",
                                             "usable_cores", "governor",     "host",
                                             "load_average", "memory_bytes", "steal_since_boot_pct"};
const std::string torch_fact = "torch";  ///< a fact of the build
constexpr double load_that_matters = 1;

std::set<std::string> all_keys(const Facts& before, const Facts& after) {
  std::set<std::string> keys;
  for (const Facts* facts : {&before, &after})
    for (const auto& [key, value] : *facts) keys.insert(key);
  return keys;
}

std::string differ(const std::string& key, const std::string& now, const std::string& then) {
  return fmt::format("{}: {} now, {} in the baseline", key, now, then);
}

/// Returns a difference with the number of its cases: "threads: 4 now, 2 in the baseline (3 cases)".
std::string of_cases(const std::string& difference, size_t count) {
  return fmt::format("{} ({})", difference, counted(count, "case"));
}

/// Compares the values of a note over all cases of both reports. `absent` is the value of a case without the note;
/// empty: such cases are skipped.
void compare_notes(const Report& baseline, const Report& report, const std::string& key, const std::string& absent,
                   std::vector<std::string>& differences) {
  const auto value_of = [&](const Result& result) {
    const std::string value = value_in(result.outcome.notes, key);
    return value.empty() ? absent : value;
  };
  std::map<std::string, std::string> earlier;
  for (const auto& result : baseline.results) earlier[result.name] = value_of(result);
  std::map<std::string, size_t> found;
  for (const auto& result : report.results) {
    const std::string then = value_in(earlier, result.name), now = value_of(result);
    if (!then.empty() && !now.empty() && then != now) ++found[differ(key, now, then)];
  }
  for (const auto& [text, count] : found) differences.push_back(of_cases(text, count));
}

/// Returns differences that may affect timings but do not exclude them: variables, threads, load, other facts of the
/// machine. One sentence each.
std::vector<std::string> other_differences(const Report& baseline, const Report& report) {
  std::vector<std::string> differences;
  const auto shown = [](const std::string& value) { return value.empty() ? "not set" : value; };
  const auto compare = [&](const Facts& before, const Facts& after, auto matters) {
    for (const auto& key : all_keys(before, after))
      if (const auto then = value_in(before, key), now = value_in(after, key); matters(key) && then != now)
        differences.push_back(differ(key, shown(now), shown(then)));
  };
  compare(baseline.run.machine, report.run.machine,
          [](const std::string& key) { return !ignored_facts.contains(key); });
  // Variables of flags and GoogleTest only choose cases.
  compare(baseline.run.environment, report.run.environment,
          [](const std::string& key) { return !key.starts_with("TORCHSTONE_") && !key.starts_with("GTEST_"); });
  const auto load_of = [](const Report& r) { return parse_number(value_in(r.run.machine, "load_average")); };
  if (const auto then = load_of(baseline), now = load_of(report);
      then && now && std::abs(*now - *then) >= load_that_matters)
    differences.push_back(differ("load_average", fmt::format("{:.2f}", *now), fmt::format("{:.2f}", *then)));
  compare_notes(baseline, report, "threads", "", differences);
  compare_notes(baseline, report, "pin_threads", "none", differences);
  return differences;
}

/// Whether the status is as expected, whatever an earlier comparison said.
bool status_is_fine(const Result& r) { return r.finished && r.status_as_expected(); }

std::string final_status_name(const Result& r) { return std::string(to_string(final_status(r))); }

/// Returns the rank of the change, and the largest move among the metrics that have it.
std::pair<size_t, double> badness(const CaseChange& c) {
  static constexpr std::array order = {Change::same,        Change::less,  Change::more, Change::faster,
                                       Change::fixed,       Change::added, Change::gone, Change::ambiguous,
                                       Change::other_model, Change::slower};
  constexpr size_t lost = order.size(), broken = lost + 1;
  double farthest = 0;
  for (const auto& metric : c.metrics)
    if (metric.change == c.change && metric.ratio > 0) farthest = std::max(farthest, std::abs(std::log(metric.ratio)));
  const size_t kind = c.change == Change::broken ? broken
                      : c.lost                   ? lost
                               : static_cast<size_t>(std::ranges::find(order, c.change) - order.begin());
  return {kind, farthest};
}

Change worse_change(Change a, Change b) {
  for (const Change change : {Change::broken, Change::slower, Change::other_model, Change::fixed, Change::ambiguous,
                              Change::faster, Change::more, Change::less})
    if (a == change || b == change) return change;
  return Change::same;
}

/// Whether the baseline measured the case with the expected status.
bool was_measured_well(const Result& before) { return !is_skipped(before) && status_is_fine(before); }

/// State that the comparisons of single cases share.
struct CaseContext {
  const RunInfo &before, &after;
  const BaselineOptions& options;
  bool runs_comparable = true;                       ///< whether timings of the two runs may be compared
  std::map<std::string, RunToRunOfCases> history{};  ///< by machine
  std::map<std::string, size_t> other_machines{};    ///< differences of single cases, and their number
  const RunToRunOfCases& history_of(const Result& r) {
    const std::string machine = machine_of(r, after);
    const auto [place, is_new] = history.try_emplace(machine);
    if (is_new) place->second = run_to_run(options.history, machine);
    return place->second;
  }
  /// Whether the timings of a case may be compared. Notes a difference of its machines.
  bool is_comparable(const Result& then, const Result& now) {
    if (options.single_numbers || (then.machine.empty() && now.machine.empty())) return runs_comparable;
    const std::string old_machine = machine_of(then, before), new_machine = machine_of(now, after);
    if (old_machine == new_machine) return runs_comparable;
    ++other_machines[differ("machine of a case", new_machine, old_machine)];
    return runs_comparable && options.other_machine;
  }
};

/// Compares the statuses of a case, and each metric separately.
CaseChange change_of(const Result& before, const Result& after, CaseContext& context, BaselineComparison& comparison) {
  const BaselineOptions& options = context.options;
  CaseChange change{after.name, Change::same, final_status_name(before), final_status_name(after)};
  change.other_parts = differing_model_parts(before.outcome.model, after.outcome.model);
  change.old_noisy = is_noisy(before), change.new_noisy = is_noisy(after);
  change.status_worse = status_is_fine(before) && !status_is_fine(after);
  if (change.other_parts.any()) change.change = Change::other_model;
  if (is_skipped(before) && is_skipped(after)) return change;
  if (change.status_worse)
    change.change = Change::broken;
  else if (is_skipped(before))
    change.change = Change::added;
  else if (is_skipped(after))
    change.change = Change::gone, change.lost = was_measured_well(before);
  else if (!status_is_fine(before) && status_is_fine(after))
    change.change = worse_change(change.change, Change::fixed);
  const bool comparable = context.is_comparable(before, after);
  // Compares all metrics, also those that options.metrics excludes: settle_timings() needs the speed-up to judge
  // latencies.
  for (const auto& info : metric_table()) {
    const std::string key(info.key);
    if (info.judged == Judged::never || !before.outcome.metrics.contains(key) || !after.outcome.metrics.contains(key))
      continue;
    if (info.judged != Judged::exactly && !comparable)
      comparison.timings_excluded += options.metrics.empty() || std::ranges::count(options.metrics, key) > 0;
    else
      change.metrics.push_back(change_of(info, before, after, options, context.history_of(after)));
  }
  return change;
}

/// Combines the settled metrics into the change of the case.
void add_metrics(CaseChange& change, const BaselineOptions& options) {
  if (!options.metrics.empty())
    std::erase_if(change.metrics, [&](const auto& m) { return std::ranges::count(options.metrics, m.metric) == 0; });
  if (change.change == Change::gone || change.change == Change::added) return;
  for (const auto& metric : change.metrics)
    if (counts_for_case(metric.metric)) change.change = worse_change(change.change, metric.change);
}

void add_notes(BaselineComparison& comparison, const BaselineOptions& options) {
  auto& notes = comparison.notes;
  if (comparison.drift && comparison.drift->moved(options.tolerance)) notes.push_back(drift_words(*comparison.drift));
  const auto add = [&](auto is_affected, std::string_view one, std::string_view several, std::string_view words) {
    if (const auto count = std::ranges::count_if(comparison.cases, is_affected); count > 0)
      notes.push_back(fmt::format("{} {} {}", count, count == 1 ? one : several, words));
  };
  const auto has_metric = [](bool MetricChange::*that) {
    return [that](const CaseChange& c) { return std::ranges::any_of(c.metrics, that); };
  };
  add(has_metric(&MetricChange::by_history), "case was", "cases were",
      "timed in one process, whose rounds do not predict another process: judged with the history's deviation from run "
      "to run");
  add(has_metric(&MetricChange::by_rounds), "case was", "cases were",
      "timed in one process, whose rounds do not predict another process: judged with a default, 2.8 times the error "
      "of the rounds and at least 2 %");
  add(has_metric(&MetricChange::other_places), "case was", "cases were",
      "timed with threads in another cache domain than in the other run (fork_join_us): changes there may be the "
      "machine's");
  add([](const CaseChange& c) { return c.old_noisy || c.new_noisy; }, "case is", "cases are",
      "noisy in one of the runs: changes there prove little");
}

void require_valid(const BaselineOptions& options) {
  if (!(options.confidence > 0 && options.confidence < 1))
    throw std::invalid_argument(fmt::format("confidence: expected between 0 and 1, found {}", options.confidence));
  if (!(options.tolerance >= 0 && std::isfinite(options.tolerance)))
    throw std::invalid_argument(fmt::format("tolerance: expected 0 or more, found {}", options.tolerance));
  if (!(options.family_error > 0 && options.family_error < 1))
    throw std::invalid_argument(fmt::format("family error: expected between 0 and 1, found {}", options.family_error));
  for (const auto& key : options.metrics) {
    const MetricInfo* info = find_metric(key);
    if (info && info->judged != Judged::never) continue;
    std::string known;
    for (const auto& row : metric_table())
      if (row.judged != Judged::never) known += (known.empty() ? "" : ", ") + std::string(row.key);
    throw std::invalid_argument(fmt::format("metric: expected one of {}, found {}", known, key));
  }
}

}  // namespace

bool has_several_machines(const Report& report) {
  return std::ranges::any_of(report.results, [](const Result& r) { return !r.machine.empty(); });
}

std::vector<std::string> machine_differences(const RunInfo& baseline, const RunInfo& run, bool of_several_machines) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& key, const Facts& before, const Facts& after) {
    const auto then = value_in(before, key, "unknown"), now = value_in(after, key, "unknown");
    if (then != now) differences.push_back(differ(key, now, then));
  };
  static const std::set<std::string> of_cases = {"architecture", "cpu", "cores", "usable_cores", "gpu"};
  const auto counts = [&](const std::string& key) { return !of_several_machines || !of_cases.contains(key); };
  for (const char* key : {"architecture", "cpu", "cores", "usable_cores", "governor"})
    if (counts(key)) compare(key, baseline.machine, run.machine);
  for (const auto& key : all_keys(baseline.build, run.build))
    if (key != torch_fact && counts(key)) compare(key, baseline.build, run.build);
  return differences;
}

std::string torch_difference(const RunInfo& baseline, const RunInfo& run) {
  const auto then = value_in(baseline.build, torch_fact, "unknown"), now = value_in(run.build, torch_fact, "unknown");
  return then == now ? "" : fmt::format("{} now, {} in the baseline", now, then);
}

bool counts_for_case(const std::string& metric) {
  const MetricInfo* info = find_metric(metric);
  if (metric.starts_with("eager_")) return false;
  return info == nullptr || (info->judged != Judged::by_one_reading && !info->only_shown);
}

std::string ModelParts::words() const {
  return program && weights ? "program and weights" : program ? "program" : weights ? "weights" : "";
}

ModelParts differing_model_parts(const ModelDigests& before, const ModelDigests& after) {
  const auto differs = [](const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; };
  return {differs(before.program, after.program), differs(before.weights, after.weights)};
}

BaselineComparison compare_with_baseline(const Report& baseline, const Report& report, const BaselineOptions& options) {
  require_valid(options);
  BaselineComparison comparison;
  if (!options.single_numbers) {
    const bool several = has_several_machines(baseline) || has_several_machines(report);
    comparison.machine_differences = machine_differences(baseline.run, report.run, several);
    comparison.torch_difference = torch_difference(baseline.run, report.run);
    comparison.excluded_by_machine = !options.other_machine && !comparison.machine_differences.empty();
    comparison.excluded_by_torch = !options.other_torch && !comparison.torch_difference.empty();
    comparison.notes = other_differences(baseline, report);
    if (several)
      comparison.notes.emplace_back(
          "The results are of several machines: the machine of each case is compared, and a drift is over all of them");
  }
  CaseContext context{baseline.run, report.run, options,
                      !comparison.excluded_by_machine && !comparison.excluded_by_torch};
  const auto before = cases_by_name(baseline), after = cases_by_name(report);
  for (const auto& [key, result] : after) {
    const auto found = before.find(key);
    comparison.cases.push_back(found == before.end()
                                   ? CaseChange{result->name, Change::added, "", final_status_name(*result)}
                                   : change_of(*found->second, *result, context, comparison));
  }
  for (const auto& [key, result] : before) {
    if (after.contains(key)) continue;
    auto& gone = comparison.cases.emplace_back(CaseChange{result->name, Change::gone, final_status_name(*result), ""});
    gone.lost = was_measured_well(*result) && !options.allow_absent;
  }
  for (const auto& [difference, number] : context.other_machines) {
    comparison.machine_differences.push_back(of_cases(difference, number));
    comparison.excluded_by_machine = comparison.excluded_by_machine || !options.other_machine;
  }
  comparison.drift = settle_timings(comparison.cases, options);
  add_notes(comparison, options);
  for (auto& change : comparison.cases) add_metrics(change, options);
  std::ranges::stable_sort(comparison.cases, std::greater(), badness);
  return comparison;
}

bool is_worse(const CaseChange& change) {
  return change.lost || change.change == Change::slower || change.change == Change::broken;
}

size_t count_worse(const BaselineComparison& comparison) {
  return static_cast<size_t>(std::ranges::count_if(comparison.cases, is_worse));
}

size_t count_other_models(const BaselineComparison& comparison) {
  return static_cast<size_t>(
      std::ranges::count_if(comparison.cases, [](const CaseChange& c) { return c.other_parts.any(); }));
}

}  // namespace torchstone::judge
