#include "reports/record/results_folder/merge_results.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/record/report_json.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/run_facts.h"

namespace torchstone::results_folder {

bool replaces(const Result& record, const Result& other) {
  const Origin &mine = record.origin, &theirs = other.origin;
  if (!mine.folder.empty() && mine.folder == theirs.folder) {
    if (mine.number != theirs.number) return mine.number > theirs.number;
    if (mine.run == theirs.run) return mine.sequence >= theirs.sequence;
  }
  return record.recorded >= other.recorded;
}

namespace fs = std::filesystem;
namespace {

/// Collects records from several inputs. Of each case, all records of its latest run count, since --gtest_repeat makes
/// several. The planned record counts only if that run has no other record of the case.
class Records {
 public:
  /// Adds a record. Of two copies of the same record (run and sequence), the later one counts.
  void add(const Result& record) {
    const auto [place, is_new_case] = places_.emplace(record.name, cases_.size());
    if (is_new_case) cases_.emplace_back();
    OfCase& of_case = cases_[place->second];
    const auto& [folder, number, run, sequence] = record.origin;
    const auto [run_place, is_new_run] = of_case.places.emplace(std::tuple(folder, number, run), of_case.runs.size());
    if (is_new_run) of_case.runs.emplace_back();
    const auto [known, is_new] = of_case.runs[run_place->second].emplace(sequence, record);
    if (!is_new && replaces(record, known->second)) known->second = record;
  }

  /// Adds a damaged case file, of which only the case's name is known. It is the newest record of its folder, so it
  /// replaces the outcome of the latest run. The case keeps its planned settings.
  void add_damaged(const Result& record) {
    const auto place = places_.find(record.name);
    if (place == places_.end()) return add(record);
    Result& known = latest_run(cases_[place->second]).rbegin()->second;
    known.outcome = record.outcome;
    known.recorded = record.recorded;
  }

  /// Returns the records that count: cases in the order of their addition, records of a case by sequence. Call it once,
  /// at the end.
  std::vector<Result> take() {
    constexpr int64_t planned = 0;
    std::vector<Result> results;
    for (auto& of_case : cases_) {
      OfRun& run = latest_run(of_case);
      if (run.size() > 1) run.erase(planned);
      for (auto& [sequence, record] : run) results.push_back(std::move(record));
    }
    return results;
  }

 private:
  using OfRun = std::map<int64_t, Result>;  // by the sequence within the run
  struct OfCase {
    std::vector<OfRun> runs{};
    std::map<std::tuple<std::string, int64_t, std::string>, size_t> places{};  // (folder, number, run) → in `runs`
  };

  static OfRun& latest_run(OfCase& of_case) {
    OfRun* latest = &of_case.runs.front();
    for (auto& run : of_case.runs)
      if (replaces(run.rbegin()->second, latest->rbegin()->second)) latest = &run;
    return *latest;
  }

  std::vector<OfCase> cases_{};
  std::map<std::string, size_t> places_{};  // name → index into `cases_`
};

Report read_report(const fs::path& path) { return parse_json(read_at_most(path, JsonLimits::bytes), path.string()); }

/// Size in bytes from which a fact gets no further values. Without a limit, merging many runs would make it too long.
constexpr size_t longest_fact = 4096;

/// Separates the values of a fact that differs between runs.
constexpr std::string_view value_separator = " | ";

bool has_value(const std::string& fact, const std::string& value) {
  const auto bracketed = [](const std::string& text) { return fmt::format("{0}{1}{0}", value_separator, text); };
  return bracketed(fact).find(bracketed(value)) != std::string::npos;
}

/// Adds the value of another run to a fact, if it differs.
void unite(std::string& fact, const std::string& other) {
  if (fact.empty())
    fact = other;
  else if (!other.empty() && fact.size() < longest_fact && !has_value(fact, other))
    fact += fmt::format("{}{}", value_separator, other);
}

void unite(Facts& facts, const Facts& others) {
  for (const auto& [key, value] : others)
    if (key != "load_average" || !facts.contains(key)) unite(facts[key], value);  // the load differs in every process
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

Result with_machine(Result result, const RunInfo& run) {
  result.machine = machine_of(result, run);
  return result;
}

void add(const Report& report, Merged& merged, Records& records) {
  unite(merged.report.run, report.run);
  if (!report.run.exit_reason.empty()) merged.report.run.exit_reason = report.run.exit_reason;
  for (const auto& result : report.results) records.add(with_machine(result, report.run));
}

/// Clears Result::machine if all results come from one machine, because the facts of the run name that. A result
/// without a machine, such as a damaged one, does not count as another machine.
void settle_machines(std::vector<Result>& results) {
  std::set<std::string> known;
  for (const auto& result : results)
    if (!result.machine.empty()) known.insert(result.machine);
  for (auto& result : results) {
    if (known.size() < 2)
      result.machine.clear();
    else if (result.machine.empty())
      result.machine = "unknown machine";
  }
}

void warn(const std::vector<std::string>& errors, Merged& merged) {
  merged.warnings.insert(merged.warnings.end(), errors.begin(), errors.end());
}

/// Keeps exit code and baseline of the run that wrote results.json, unless a record belongs to another run.
void keep_end(const RunInfo& run, Report& merged) {
  const auto is_other = [&](const Result& r) { return !r.origin.run.empty() && r.origin.run != run.id; };
  if (std::ranges::any_of(merged.results, is_other)) return;
  merged.run.exit_code = run.exit_code;
  merged.run.exit_words = run.exit_words;
  merged.run.baseline = run.baseline;
}

/// Merges the records of one folder.
Merged merge_folder(const fs::path& folder) {
  Merged merged;
  Records records;
  const Plans plans = read_plans(folder);
  const CaseFiles cases = read_cases(folder);
  std::optional<RunInfo> ended;
  std::map<std::string, const RunInfo*> runs;  // by id
  for (const auto& plan : plans.plans) {
    add(plan, merged, records);
    runs.emplace(plan.run.id, &plan.run);
  }
  try {
    if (fs::exists(folder / "results.json")) {
      Report report = read_report(folder / "results.json");
      add(report, merged, records);
      ended = std::move(report.run);
    }
  } catch (const ReportError& error) {
    if (plans.plans.empty() && cases.results.empty()) throw;
    warn({error.what()}, merged);  // cases/ has the same records: a run writes results.json last
  }
  for (const auto& result : cases.results) {
    if (result.check.empty()) {
      records.add_damaged(result);
      continue;
    }
    const auto run = runs.find(result.origin.run);
    records.add(with_machine(result, run == runs.end() ? merged.report.run : *run->second));
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
  settle_machines(merged.report.results);
  if (inputs.size() == 1)
    keep_end(last, merged.report);
  else
    merged.report.run.exit_reason = fmt::format("merged from {} inputs", inputs.size());
  return merged;
}

}  // namespace torchstone::results_folder
