#include "reports/judge/pooled_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/report_error.h"
#include "reports/judge/baseline.h"
#include "reports/judge/cases_of.h"
#include "reports/judge/level.h"
#include "reports/statistics/near_processes.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

using NamedSamples = std::map<std::string, std::vector<double>>;

constexpr const char* counted = "";
constexpr const char* uncounted = "uncounted_";
constexpr std::array timing_metrics = {"speedup", "eager_ms", "compiled_ms"};

const std::vector<double>& series(const NamedSamples& samples, const std::string& key) {
  static const std::vector<double> none;
  const auto found = samples.find(key);
  return found == samples.end() ? none : found->second;
}

/// Records of older versions do not say that one process took their rounds.
void name_one_process(NamedSamples& samples) {
  const size_t rounds = series(samples, "eager_s").size();
  if (rounds > 0 && !samples.contains("process_rounds")) samples["process_rounds"] = {static_cast<double>(rounds)};
}

/// Whether both have processes of this kind, and their threads lay alike.
bool alike(const NamedSamples& to, const std::string& kind, const NamedSamples& from, const std::string& other_kind) {
  if (series(to, kind + "process_rounds").empty() || series(from, other_kind + "process_rounds").empty()) return false;
  const auto place = [](const NamedSamples& samples, const std::string& key) {
    const auto& us = series(samples, key + "process_fork_join_us");
    return us.empty() ? 0 : statistics::median(us);
  };
  return !statistics::places_differ(place(to, kind), place(from, other_kind));
}

void append(NamedSamples& to, const std::string& kind, const NamedSamples& from, const std::string& other_kind) {
  for (const char* key : {"eager_s", "compiled_s", "process_rounds", "process_fork_join_us"}) {
    const auto& values = series(from, other_kind + key);
    if (!values.empty()) to[kind + key].insert(to[kind + key].end(), values.begin(), values.end());
  }
}

void add_processes(NamedSamples& to, NamedSamples from) {
  name_one_process(from);
  if (alike(to, counted, from, counted))
    append(to, counted, from, counted);
  else if (alike(to, uncounted, from, counted))
    append(to, uncounted, from, counted);
  if (alike(to, uncounted, from, uncounted)) append(to, uncounted, from, uncounted);
}

/// The numbers that stand for the samples.
void settle(Result& result) {
  for (const char* metric : timing_metrics)
    if (const auto level = level_of(result, metric); level && result.outcome.metrics.contains(metric))
      result.outcome.metrics[metric] = std::exp(level->value);
}

bool is_timed(const Result& result) {
  return result.finished && result.status_as_expected() && result.outcome.metrics.contains("speedup");
}

void require_same_machine(const Report& last, const Report& other) {
  const auto differences = machine_differences(other.run, last.run);
  if (!differences.empty())
    throw ReportError(fmt::format("the runs of a baseline are not of one machine and version: {} (started {} and {})",
                                  fmt::join(differences, "; "), last.run.started, other.run.started));
}

}  // namespace

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
  const auto cases = cases_of(pooled);
  for (const auto& [key, result] : cases)
    if (is_timed(*result)) name_one_process(result->outcome.samples);
  for (auto& run : runs) {
    require_same_machine(pooled, run);
    for (const auto& [key, result] : cases_of(run)) {
      const auto found = cases.find(key);
      if (found != cases.end() && is_timed(*result) && is_timed(*found->second) &&
          result->batch_size == found->second->batch_size)
        add_processes(found->second->outcome.samples, result->outcome.samples);
    }
  }
  for (const auto& [key, result] : cases)
    if (is_timed(*result)) settle(*result);
  return pooled;
}

}  // namespace torchstone::judge
