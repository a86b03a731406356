#include "reports/results_folder/records.h"

#include <utility>

#include "reports/results_folder/order.h"

namespace torchstone::results_folder {

Records::OfRun& Records::latest_run(OfCase& of_case) {
  OfRun* latest = &of_case.runs.front();
  for (auto& run : of_case.runs)
    if (replaces(run.rbegin()->second, latest->rbegin()->second)) latest = &run;
  return *latest;
}

void Records::add(const Result& record) {
  const auto [place, is_new_case] = places_.emplace(record.name, cases_.size());
  if (is_new_case) cases_.emplace_back();
  OfCase& of_case = cases_[place->second];
  const auto& [folder, number, run, sequence] = record.origin;
  const auto [run_place, is_new_run] = of_case.places.emplace(std::tuple(folder, number, run), of_case.runs.size());
  if (is_new_run) of_case.runs.emplace_back();
  const auto [known, is_new] = of_case.runs[run_place->second].emplace(sequence, record);
  if (!is_new && replaces(record, known->second)) known->second = record;
}

void Records::add_damaged(const Result& record) {
  const auto place = places_.find(record.name);
  if (place == places_.end()) return add(record);
  Result& known = latest_run(cases_[place->second]).rbegin()->second;
  known.outcome = record.outcome;
  known.recorded = record.recorded;
}

std::vector<Result> Records::take() {
  constexpr int64_t planned = 0;
  std::vector<Result> results;
  for (auto& of_case : cases_) {
    OfRun& run = latest_run(of_case);
    if (run.size() > 1) run.erase(planned);
    for (auto& [sequence, record] : run) results.push_back(std::move(record));
  }
  cases_.clear();
  places_.clear();
  return results;
}

}  // namespace torchstone::results_folder
