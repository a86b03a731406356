#include "reports/record/results_folder/case_records.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>
#include <tuple>

#include "reports/base/files.h"
#include "reports/base/time.h"
#include "reports/record/report_json.h"
#include "reports/record/summary.h"

namespace torchstone::results_folder {

namespace fs = std::filesystem;
namespace {

constexpr size_t most_bytes = 64 * mebibyte;  // limit for the file of one case

Result damaged(const fs::path& file, const std::string& why) {
  Result result;
  result.name = file.stem().string();
  std::ranges::replace(result.name, '+', '/');
  struct stat facts {};
  if (stat(file.c_str(), &facts) == 0) {
    result.recorded =
        format_utc(static_cast<double>(facts.st_mtim.tv_sec) + static_cast<double>(facts.st_mtim.tv_nsec) * 1e-9);
  }
  result.outcome.status = Status::crash;
  result.outcome.reason = "damaged result file: " + why;
  return result;
}

Result never_finished(Result result) {
  result.finished = true;
  result.outcome.status = Status::crash;
  result.outcome.reason = "started, never finished";
  return result;
}

bool is_earlier_repetition(const Origin& known, const Origin& record) {
  return !record.folder.empty() && known.folder == record.folder && known.number == record.number &&
         known.run == record.run && known.sequence < record.sequence;
}

/// Whether the file holds a failure of an earlier repetition that this record would overwrite. The record of a
/// repetition that begins would overwrite it too.
bool hides_failure(const Result& record, const fs::path& path) try {
  if ((record.finished && !is_fine(record)) || record.origin.folder.empty() || !fs::exists(path)) return false;
  const Result known = parse_case_json(read_at_most(path, most_bytes), path.string());
  return known.finished && !is_fine(known) && is_earlier_repetition(known.origin, record.origin);
} catch (const std::runtime_error&) {  // ReportError, system_error: what cannot be read is replaced
  return false;
}

/// Returns the record of a case that never began. It has the time of the plan, so any record of the run is newer.
Result not_run(Result planned) {
  planned.finished = true;
  planned.outcome = {};
  planned.outcome.status = Status::interrupted;
  planned.outcome.reason = "not run: the run ended before it";
  return planned;
}

}  // namespace

fs::path write_case(const fs::path& out, Result result) {
  if (result.recorded.empty()) result.recorded = utc_now();
  fs::path path = out / "cases" / (case_file_name(result.name) + ".json");
  if (!hides_failure(result, path)) write_atomically(path, write_case_json(result));
  return path;
}

CaseFiles read_cases(const fs::path& out) {
  CaseFiles cases;
  if (!fs::is_directory(out / "cases")) return cases;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(out / "cases")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    try {
      Result result = parse_case_json(read_at_most(file, most_bytes), file.string());
      cases.results.push_back(result.finished ? result : never_finished(std::move(result)));
    } catch (const std::runtime_error& error) {  // ReportError, system_error
      cases.errors.emplace_back(error.what());
      cases.results.push_back(damaged(file, error.what()));
    }
  }
  std::ranges::stable_sort(cases.results, {}, [](const Result& result) {
    return std::tuple(result.origin.number, result.origin.sequence, result.recorded);
  });
  return cases;
}

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
