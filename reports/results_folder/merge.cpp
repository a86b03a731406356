#include "reports/results_folder/merge.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/record/json_limits.h"
#include "reports/results_folder/case_files.h"
#include "reports/results_folder/plan.h"
#include "reports/results_folder/records.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

Report read_report(const fs::path& path) { return parse_json(read_at_most(path, JsonLimits::bytes), path.string()); }

/// Many runs that differ in a fact would make it grow without end; beyond so many bytes no further value is added.
constexpr size_t longest_fact = 4096;

/// What both runs agree on; a fact that differs names both.
void unite(std::string& fact, const std::string& other) {
  if (fact.empty())
    fact = other;
  else if (fact != other && fact.size() < longest_fact && fact.find(other) == std::string::npos)
    fact += " | " + other;
}

void unite(Facts& facts, const Facts& others) {
  for (const auto& [key, value] : others)
    if (key != "load_average" || !facts.contains(key)) unite(facts[key], value);  // the load is new in every process
}

void unite(RunInfo& run, const RunInfo& other) {
  if (run.started.empty() || (!other.started.empty() && other.started < run.started)) {
    run.started = other.started;
    run.id = other.id;
    run.argv = other.argv;
    run.directory = other.directory;
  }
  run.duration_s += other.duration_s;
  unite(run.tag, other.tag);
  unite(run.machine, other.machine);
  unite(run.build, other.build);
  unite(run.environment, other.environment);
  unite(run.policy, other.policy);
}

void add(const Report& report, Merged& merged, Records& records) {
  unite(merged.report.run, report.run);
  if (!report.run.exit_reason.empty()) merged.report.run.exit_reason = report.run.exit_reason;
  for (const auto& result : report.results) records.add(result);
}

void warn(const std::vector<std::string>& errors, Merged& merged) {
  merged.warnings.insert(merged.warnings.end(), errors.begin(), errors.end());
}

/// How the run that wrote results.json ended is how these records ended while none of them is of another run.
void keep_end(const RunInfo& run, Report& merged) {
  const auto is_other = [&](const Result& r) { return !r.origin.run.empty() && r.origin.run != run.id; };
  if (std::ranges::any_of(merged.results, is_other)) return;
  merged.run.exit_code = run.exit_code;
  merged.run.exit_words = run.exit_words;
  merged.run.baseline = run.baseline;
}

/// The records of one folder.
Merged merge_folder(const fs::path& folder) {
  Merged merged;
  Records records;
  const Plans plans = read_plans(folder);
  const CaseFiles cases = read_cases(folder);
  std::optional<RunInfo> ended;
  for (const auto& plan : plans.plans) add(plan, merged, records);
  try {
    if (fs::exists(folder / "results.json")) {
      Report report = read_report(folder / "results.json");
      add(report, merged, records);
      ended = std::move(report.run);
    }
  } catch (const ReportError& error) {
    if (plans.plans.empty() && cases.results.empty()) throw;
    warn({error.what()}, merged);  // a run writes it last, from what is in cases/
  }
  for (const auto& result : cases.results) {
    if (result.check.empty())
      records.add_damaged(result);
    else
      records.add(result);
  }
  warn(plans.errors, merged);
  warn(cases.errors, merged);
  merged.report.results = records.take();
  if (ended) keep_end(*ended, merged.report);
  return merged;
}

}  // namespace

Merged merge_results(const std::vector<fs::path>& inputs) {
  Merged merged;
  Records records;
  RunInfo last;
  for (const auto& input : inputs) {
    Report report;
    if (fs::is_directory(input)) {
      Merged folder = merge_folder(input);
      warn(folder.warnings, merged);
      report = std::move(folder.report);
    } else if (fs::is_regular_file(input)) {
      report = read_report(input);
    } else {
      throw ReportError(input.string() + ": expected a results folder or a results.json, found nothing");
    }
    add(report, merged, records);
    last = std::move(report.run);
  }
  merged.report.results = records.take();
  if (inputs.size() == 1)
    keep_end(last, merged.report);
  else
    merged.report.run.exit_reason = fmt::format("merged from {} inputs", inputs.size());
  return merged;
}

}  // namespace torchstone::results_folder
