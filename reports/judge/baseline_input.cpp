#include "reports/judge/baseline_input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/judge/level.h"
#include "reports/record/result_json.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/record/run_facts.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/statistics/processes.h"

namespace torchstone::judge {
namespace {

using Matches = std::vector<const Result*>;

/// Cases that match the name of a table's file, indexed by the model names that a row may have. Points to the results.
struct Candidates {
  std::map<std::string, Matches> by_own_name, by_upstream_name;
  std::map<std::string, size_t> refused;  ///< number of skipped cases by the part of the file's name that excludes them
};

std::string device_type(const std::string& device) { return device.substr(0, device.find(':')); }

bool agrees_in_backend(const Result& r, const std::string& said) {
  const std::string backend = tables::word_of(r.backend);
  return said == backend || said == backend + "_" + tables::word_of(r.suite);  // suites that upstream lacks
}

/// Returns the first part of the file's name that excludes this case; empty if none does.
std::string disagreement(const UpstreamTable& t, const Result& r) {
  if (r.check != t.check) return "check " + t.check;
  for (const auto& field : text_fields()) {
    const auto said = t.facts.find(std::string(field.key));
    if (said == t.facts.end() || field.key == "check") continue;
    const bool agrees = field.key == "backend"  ? agrees_in_backend(r, said->second)
                        : field.key == "device" ? device_type(r.device) == said->second
                                                : r.*field.member == said->second;
    if (!agrees) return fmt::format("{} {}", field.key, said->second);
  }
  return "";
}

/// Returns the fields in which cases differ.
std::string different_fields(const Matches& cases) {
  std::vector<std::string> fields;
  for (const auto& field : text_fields()) {
    const bool tells = field.key == "suite" || field.key == "mode" || field.key == "dtype" || field.key == "device" ||
                       field.key == "backend" || field.key == "preset" || field.key == "dynamic";
    if (tells &&
        std::ranges::any_of(cases, [&](const Result* r) { return r->*field.member != cases[0]->*field.member; }))
      fields.emplace_back(field.key);
  }
  return fmt::format("{}", fmt::join(fields, ", "));
}

void require_one_of_each_model(const UpstreamTable& t, const CsvRow& row, const Matches& cases) {
  std::map<std::string, Matches> of_model;
  for (const Result* result : cases) of_model[result->model].push_back(result);
  for (const auto& [model, same] : of_model) {
    if (same.size() == 1) continue;
    throw ReportError(fmt::format(
        "{}:{}: {} may be any of {} cases, which differ in {} ({}, {}{}): expected a file name that says it, as "
        "inductor_torchbench_float32_inference_cpu_accuracy.csv does, or a run that has only one of them",
        t.table.file, row.line, shortened(printable(t.table.cell(row, "name")), 60), same.size(),
        different_fields(same), same[0]->name, same[1]->name, same.size() > 2 ? ", …" : ""));
  }
}

/// Returns the cases that a row may be about. The last record of a case counts.
Candidates find_candidates(const UpstreamTable& table, const std::vector<Result>& results) {
  std::map<std::pair<std::string, std::string>, const Result*> last;
  for (const auto& result : results) last[{result.name, result.device}] = &result;
  Candidates candidates;
  for (const auto& [key, result] : last) {
    if (const std::string why = disagreement(table, *result); !why.empty()) {
      ++candidates.refused[why];
      continue;
    }
    candidates.by_own_name[result->model].push_back(result);
    if (!result->upstream_name.empty()) candidates.by_upstream_name[result->upstream_name].push_back(result);
  }
  return candidates;
}

/// Returns the cases of a row on its device, found by Torchstone's name of the model or else by upstream's. Several
/// models may be variants of one upstream model. Throws ReportError "file:line: …" for several cases of one model.
Matches cases_of_row(const UpstreamTable& table, const CsvRow& row, const Candidates& candidates) {
  const std::string& device = table.table.cell(row, "dev");
  for (const auto* names : {&candidates.by_own_name, &candidates.by_upstream_name}) {
    const auto found = names->find(table.table.cell(row, "name"));
    if (found == names->end()) continue;
    Matches cases = found->second;
    std::erase_if(cases, [&](const Result* r) { return !device.empty() && device_type(r->device) != device; });
    if (cases.empty()) continue;
    require_one_of_each_model(table, row, cases);
    return cases;
  }
  return {};
}

std::optional<double> positive(const UpstreamTable& t, const CsvRow& row, const char* column) {
  const auto value = parse_number(t.table.cell(row, column));
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

/// Returns the row as a record of the case. Returns nothing, and the reason in `why`, if they cannot be compared.
std::optional<Result> upstream_record(const UpstreamTable& t, const CsvRow& row, const Result& now, std::string& why) {
  Result before = now;
  before.finished = true;
  before.outcome = Outcome{};
  auto& metrics = before.outcome.metrics;
  if (t.table.column("accuracy")) {
    before.outcome.status = *parse_status(t.table.cell(row, "accuracy"));
    if (const auto breaks = parse_number(t.table.cell(row, "graph_breaks")); breaks && std::isfinite(*breaks))
      metrics["graph_breaks"] = *breaks;
    return before;
  }
  if (!positive(t, row, "speedup")) {
    why = fmt::format("its speed-up there is {}: not measured", t.table.cell(row, "speedup"));
    return std::nullopt;
  }
  if (const auto batch = positive(t, row, "batch_size"); batch && *batch != static_cast<double>(now.batch_size)) {
    why = fmt::format("batch size {} there, {} here", *batch, now.batch_size);
    return std::nullopt;
  }
  before.outcome.status = Status::pass;
  for (const auto& [metric, column] :
       {std::pair{"speedup", "speedup"}, {"compiled_ms", "abs_latency"}, {"compile_s", "compilation_latency"}})
    if (const auto value = positive(t, row, column)) metrics[metric] = *value;
  return before;
}

constexpr const char* of_counted = "";
constexpr const char* of_uncounted = "uncounted_";
constexpr std::array timing_metrics = {"speedup", "eager_ms", "compiled_ms"};

/// Whether both records have processes of this kind, with their threads in the same cache domain.
bool alike(const Result& to, const std::string& kind, const Result& from, const std::string& other_kind) {
  return !samples_of(to, kind + "process_rounds").empty() && !samples_of(from, other_kind + "process_rounds").empty() &&
         !statistics::places_differ(median_fork_join_us(to, kind), median_fork_join_us(from, other_kind));
}

void append(Result& to, const std::string& kind, const Result& from, const std::string& other_kind) {
  for (const char* key : {"eager_s", "compiled_s", "process_rounds", "process_fork_join_us"}) {
    const auto& values = samples_of(from, other_kind + key);
    auto& all = to.outcome.samples[kind + key];
    all.insert(all.end(), values.begin(), values.end());
  }
}

void add_processes(Result& to, const Result& from) {
  if (alike(to, of_counted, from, of_counted))
    append(to, of_counted, from, of_counted);
  else if (alike(to, of_uncounted, from, of_counted))
    append(to, of_uncounted, from, of_counted);
  if (alike(to, of_uncounted, from, of_uncounted)) append(to, of_uncounted, from, of_uncounted);
}

/// Computes the metrics of the combined samples.
void settle(Result& result) {
  for (const char* metric : timing_metrics)
    if (const auto level = estimate_level(result, metric); level && result.outcome.metrics.contains(metric))
      result.outcome.metrics[metric] = std::exp(level->value);
}

/// Returns the cases that were timed and are as expected. Adds `process_rounds` to records of older versions, which
/// have one process.
auto timed_cases_by_name(Report& report) {
  auto cases = cases_by_name(report);
  std::erase_if(cases, [](const auto& c) {
    const Result& result = *c.second;
    return !result.finished || !result.status_as_expected() || !result.outcome.metrics.contains("speedup");
  });
  for (const auto& [key, result] : cases)
    if (const size_t rounds = samples_of(*result, "eager_s").size(); rounds > 0)
      result->outcome.samples.try_emplace("process_rounds", 1, static_cast<double>(rounds));
  return cases;
}

/// Whether timings may be pooled: same batch size and same model.
bool same_program(const Result& a, const Result& b) {
  return a.batch_size == b.batch_size && !differing_model_parts(a.outcome.model, b.outcome.model).any();
}

/// Whether both were timed on the same kind of machine. Checked only for reports with several machines.
bool same_machine(const Result& a, const RunInfo& run_of_a, const Result& b, const RunInfo& run_of_b) {
  return (a.machine.empty() && b.machine.empty()) || machine_of(a, run_of_a) == machine_of(b, run_of_b);
}

}  // namespace

MatchedTable match(const UpstreamTable& table, const Report& report) {
  const Candidates candidates = find_candidates(table, report.results);
  MatchedTable matched;
  std::vector<std::string> excluded;
  size_t rows = 0, minis = 0;
  for (const auto& row : table.table.rows) {
    const Matches cases = cases_of_row(table, row, candidates);
    rows += !cases.empty();
    for (const Result* now : cases) {
      std::string why;
      if (auto before = upstream_record(table, row, *now, why)) {
        matched.results.push_back(std::move(*before));
        minis += now->preset == "mini";
      } else {
        excluded.push_back(fmt::format("Not compared: {}: {} ({}:{})", now->name, why, table.table.file, row.line));
      }
    }
  }
  auto& notes = matched.notes;
  notes.push_back(
      fmt::format("The baseline {} is a table of benchmarks/dynamo ({}); {} of its {} rows are of models here",
                  table.table.file, table.check, rows, table.table.rows.size()));
  if (table.check == "performance")
    notes.emplace_back(
        "It has one speed-up for each model, without an interval and without a machine. Each is compared as a number "
        "with the interval of this run, so the certainty of a change depends on noise that nobody measured");
  if (minis > 0 && !table.table.column("accuracy"))
    notes.push_back(
        fmt::format("{} of the cases are of the preset mini, which is smaller than upstream's models", minis));
  for (const auto& [said, count] : candidates.refused)
    notes.push_back(fmt::format("{} left out: the baseline is of {}",
                                count == 1 ? "1 case is" : fmt::format("{} cases are", count), said));
  notes.insert(notes.end(), excluded.begin(), excluded.end());
  return matched;
}

Report pool_runs(std::vector<Report> runs) {
  if (runs.empty()) throw std::invalid_argument("runs: one at least expected");
  std::ranges::stable_sort(runs, {}, [](const Report& report) { return report.run.started; });
  std::set<std::string> ids;
  for (const auto& report : runs)
    if (!report.run.id.empty() && !ids.insert(report.run.id).second)
      throw ReportError(fmt::format("the baseline has the run {} twice (expected different runs)", report.run.id));
  Report pooled = std::move(runs.back());
  runs.pop_back();
  if (runs.empty()) return pooled;
  const auto cases = timed_cases_by_name(pooled);
  for (auto& run : runs) {
    auto differences =
        machine_differences(run.run, pooled.run, has_several_machines(run) || has_several_machines(pooled));
    if (const auto torch = torch_difference(run.run, pooled.run); !torch.empty())
      differences.push_back("torch: " + torch);
    if (!differences.empty())
      throw ReportError(fmt::format("the runs of a baseline are not of one machine and version: {} (started {} and {})",
                                    fmt::join(differences, "; "), pooled.run.started, run.run.started));
    for (const auto& [key, result] : timed_cases_by_name(run))
      if (const auto found = cases.find(key); found != cases.end() && same_program(*result, *found->second) &&
                                              same_machine(*result, run.run, *found->second, pooled.run))
        add_processes(*found->second, *result);
  }
  for (const auto& [key, result] : cases) settle(*result);
  return pooled;
}

Baseline read_baseline(const std::vector<std::string>& paths) {
  Baseline baseline;
  std::vector<Report> runs;
  for (const auto& path : paths) {
    if (is_upstream_table(path)) {
      if (paths.size() == 1) return {{}, read_upstream_table(path), {}};
      throw ReportError(path + ": a table of benchmarks/dynamo is no run (expected it as the only baseline)");
    }
    results_folder::Merged merged = results_folder::merge_results({path});
    baseline.warnings.insert(baseline.warnings.end(), merged.warnings.begin(), merged.warnings.end());
    if (paths.size() > 1 && merged.report.results.empty())
      throw ReportError(path + ": no results (expected a run in each of several baselines)");
    runs.push_back(std::move(merged.report));
  }
  baseline.runs = runs.size();
  baseline.report = pool_runs(std::move(runs));
  return baseline;
}

BaselineComparison compare_with(const Baseline& baseline, const Report& report, BaselineOptions options) {
  if (!baseline.table) {
    BaselineComparison comparison = compare_with_baseline(baseline.report, report, options);
    if (baseline.runs > 1)
      comparison.notes.insert(comparison.notes.begin(),
                              fmt::format("The baseline is {} runs: timings are of all their processes, the rest is of "
                                          "the last run, started {}",
                                          baseline.runs, baseline.report.run.started));
    return comparison;
  }
  MatchedTable matched = match(*baseline.table, report);
  options.single_numbers = true;
  if (options.metrics.empty()) options.metrics = {"speedup", "graph_breaks"};
  BaselineComparison comparison = compare_with_baseline({{}, std::move(matched.results)}, report, options);
  comparison.notes.insert(comparison.notes.begin(), matched.notes.begin(), matched.notes.end());
  return comparison;
}

}  // namespace torchstone::judge
