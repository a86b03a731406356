#include "reports/results_folder/merge.h"

#include <map>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/results_folder/case_files.h"
#include "reports/results_folder/plan.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

Report read_report(const fs::path& path) {
  try {
    return parse_json(read_text(path), path.string());
  } catch (const std::system_error& error) {
    throw ReportError(error.what());
  }
}

/// What both runs agree on; a fact that differs names both.
void unite(std::string& fact, const std::string& other) {
  if (fact.empty())
    fact = other;
  else if (fact != other && fact.find(other) == std::string::npos)
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

/// Collects records: of one name the newest counts, of two as new as each other the later one.
class Records {
 public:
  explicit Records(Merged& merged) : merged_(merged) {}

  void add(const Report& report) {
    unite(merged_.report.run, report.run);
    if (!report.run.exit_reason.empty()) merged_.report.run.exit_reason = report.run.exit_reason;
    add(report.results);
  }
  void add(const std::vector<Result>& records) {
    auto& results = merged_.report.results;
    for (const auto& record : records) {
      const auto [place, is_new] = places_.emplace(record.name, results.size());
      if (is_new) {
        results.push_back(record);
        continue;
      }
      Result& known = results[place->second];
      if (known.recorded > record.recorded) continue;
      if (record.check.empty()) {  // of a damaged file only the name is known
        known.outcome = record.outcome;
        known.recorded = record.recorded;
      } else {
        known = record;
      }
    }
  }
  void warn(const std::vector<std::string>& errors) {
    merged_.warnings.insert(merged_.warnings.end(), errors.begin(), errors.end());
  }

 private:
  Merged& merged_;
  std::map<std::string, size_t> places_;
};

void add_folder(const fs::path& folder, Records& records) {
  const Plans plans = read_plans(folder);
  const CaseFiles cases = read_cases(folder);
  for (const auto& plan : plans.plans) records.add(plan);
  try {
    if (fs::exists(folder / "results.json")) records.add(read_report(folder / "results.json"));
  } catch (const ReportError& error) {
    if (plans.plans.empty() && cases.results.empty()) throw;
    records.warn({error.what()});  // a run writes it last, from what is in cases/
  }
  records.add(cases.results);
  records.warn(plans.errors);
  records.warn(cases.errors);
}

}  // namespace

Merged merge_results(const std::vector<fs::path>& inputs) {
  Merged merged;
  Records records(merged);
  for (const auto& input : inputs) {
    if (fs::is_directory(input))
      add_folder(input, records);
    else if (fs::is_regular_file(input))
      records.add(read_report(input));
    else
      throw ReportError(input.string() + ": expected a results folder or a results.json, found nothing");
  }
  if (inputs.size() != 1) merged.report.run.exit_reason = fmt::format("merged from {} inputs", inputs.size());
  return merged;
}

}  // namespace torchstone::results_folder
