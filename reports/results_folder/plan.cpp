#include "reports/results_folder/plan.h"

#include <algorithm>
#include <set>

#include "reports/base/files.h"
#include "reports/record/json_limits.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

/// The record of a case that never began, as old as the plan: whatever the run recorded is newer.
Result not_run(Result planned) {
  planned.finished = true;
  planned.outcome = {};
  planned.outcome.status = Status::interrupted;
  planned.outcome.reason = "not run: the run ended before it";
  return planned;
}

}  // namespace

fs::path write_plan(const fs::path& out, const RunInfo& run, std::vector<Result> planned) {
  for (auto& result : planned) {
    result.finished = false;
    result.recorded = run.started;
  }
  const fs::path path = out / "runs" / (case_file_name(run.id) + ".json");
  write_atomically(path, write_json(planned, run));
  return path;
}

Plans read_plans(const fs::path& out) {
  Plans read;
  if (!fs::is_directory(out / "runs")) return read;
  for (const auto& entry : fs::directory_iterator(out / "runs")) {
    if (entry.path().extension() != ".json") continue;
    try {
      Report plan = parse_json(read_at_most(entry.path(), JsonLimits::bytes), entry.path().string());
      std::ranges::transform(plan.results, plan.results.begin(), not_run);
      read.plans.push_back(std::move(plan));
    } catch (const std::runtime_error& error) {  // ReportError, system_error
      read.errors.emplace_back(error.what());
    }
  }
  std::ranges::sort(read.plans, {}, [](const Report& plan) { return std::pair(plan.run.started, plan.run.id); });
  std::ranges::sort(read.errors);
  return read;
}

std::vector<Result> with_missing(std::vector<Result> results, const std::vector<Result>& planned) {
  std::set<std::string> present;
  for (const auto& result : results) present.insert(result.name);
  for (const auto& result : planned)
    if (present.insert(result.name).second) results.push_back(not_run(result));
  return results;
}

}  // namespace torchstone::results_folder
