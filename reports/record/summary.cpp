#include "reports/record/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/verdict.h"

namespace torchstone {
namespace {

double square(double x) { return x * x; }

std::string combination(const Result& r) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", r.suite, r.model, r.mode, r.dtype, r.device, r.backend, r.preset,
                     r.dynamic);
}

/// Returns why a timing does not count, from the accuracy case of the same combination.
std::string why_excluded(const Result& accuracy) {
  const Status status = final_status(accuracy);
  return status == Status::fail_accuracy ? "with a wrong answer"
                                         : fmt::format("whose accuracy is {}", to_string(status));
}

bool is_torch_compile_row(const Result& r) {
  return r.backend == "torch_compile" || r.backend.starts_with("torch_compile_");
}

/// Returns the results of a check that enter an average, and counts the excluded ones. Cases of the user's own models
/// are excluded, because their number depends on the user. Python's torch.compile is excluded if there are native
/// backends, because it is only a reference. With `machine`, results of other machines are neither chosen nor counted.
std::vector<const Result*> averaged(const std::vector<Result>& results, const std::string& check, Average& average,
                                    const std::string* machine = nullptr) {
  const auto any = [&](auto fits) {
    return std::ranges::any_of(results, [&](const Result& r) { return r.check == check && fits(r); });
  };
  const bool any_model = any([](const Result& r) { return !r.own_model; });
  const bool any_native = any([](const Result& r) { return r.backend != "eager" && !is_torch_compile_row(r); });
  std::vector<const Result*> chosen;
  for (const auto& r : results) {
    if (r.check != check || (machine != nullptr && r.machine != *machine)) continue;
    if (any_model && r.own_model)
      ++average.excluded["of a model of one's own"];
    else if (any_native && is_torch_compile_row(r))
      ++average.excluded["of Python's torch.compile"];
    else
      chosen.push_back(&r);
  }
  return chosen;
}

/// Returns the timings with right answers and a known metric above 0. Counts the others by reason. Ignores results of
/// other machines.
std::vector<const Result*> timings_of(const std::vector<Result>& results, const std::string& metric,
                                      const std::string& machine, Average& average) {
  std::map<std::string, std::string> wrong;
  for (const auto& r : results) {
    const bool is_right = info_of(r.outcome.status).passing || is_beyond_a_limit(r.outcome.status);
    if (r.check == "accuracy" && (!r.finished || !is_right)) wrong.emplace(combination(r), why_excluded(r));
  }
  const auto compiles = [](const Result& r) { return r.check == "performance" && r.backend != "eager"; };
  const bool any_compiled = std::ranges::any_of(results, compiles);
  std::vector<const Result*> values;
  for (const Result* r : averaged(results, "performance", average, &machine)) {
    const auto value = metric_of(*r, metric.c_str());
    if (const auto found = wrong.find(combination(*r)); found != wrong.end())
      ++average.excluded[found->second];
    else if (any_compiled && !compiles(*r))
      ++average.excluded["eager against eager"];
    else if (!value || !std::isfinite(*value) || *value <= 0)
      ++average.excluded[std::string(to_string(r->outcome.status))];
    else if (is_unknown(*r, metric))
      ++average.excluded["with too wide an interval"];
    else
      values.push_back(r);
  }
  average.n = values.size();
  average.noisy = static_cast<size_t>(std::ranges::count_if(values, [](const Result* r) { return is_noisy(*r); }));
  return values;
}

}  // namespace

const std::vector<double>& samples_of(const Result& result, const std::string& key) {
  static const std::vector<double> none;
  const auto found = result.outcome.samples.find(key);
  return found == result.outcome.samples.end() ? none : found->second;
}

bool is_skipped(const Result& r) { return r.finished && info_of(r.outcome.status).kind == StatusKind::skipped; }

bool is_fine(const Result& r) { return r.finished && r.as_expected(); }

double margin_of(const Result& r) {
  const double infinity = std::numeric_limits<double>::infinity();
  double worst = is_fine(r) ? 0 : 1;
  const auto error = metric_of(r, "error_of_limit"), times = metric_of(r, "rounding_times");
  if (times) worst = std::max(worst, *times);
  const bool has_tolerance = error && (!times || *error <= 1);  // beyond the tolerance, rounding decided
  if (has_tolerance) worst = std::max(worst, std::isnan(*error) ? infinity : *error);
  const bool is_timed = r.outcome.metrics.contains("speedup_low") && !is_unknown(r, "speedup");
  if (const double low = is_timed ? r.outcome.metrics.at("speedup_low") : 0; low > 0)
    worst = std::max(worst, metric_of(r, "required_speedup").value_or(1) / low);
  const bool judged = error || times || is_timed;
  return !is_fine(r) && !judged ? infinity : worst;
}

Status final_status(const Result& result) { return result.finished ? result.outcome.status : Status::crash; }

std::vector<std::pair<Status, size_t>> count_by_status(const std::vector<Result>& results) {
  std::vector<std::pair<Status, size_t>> counts;
  for (const auto& info : status_table()) {
    const auto count = std::ranges::count_if(results, [&](const Result& r) { return final_status(r) == info.status; });
    if (count > 0) counts.emplace_back(info.status, count);
  }
  return counts;
}

Average pass_rate_of(const std::vector<Result>& results) {
  Average rate;
  size_t passed = 0;
  for (const Result* r : averaged(results, "accuracy", rate)) {
    if (is_skipped(*r) || (r->finished && r->outcome.status == Status::interrupted)) {
      ++rate.excluded[std::string(to_string(r->outcome.status))];
      continue;
    }
    ++rate.n;
    passed += r->finished && r->outcome.status == Status::pass;
  }
  if (rate.n > 0) rate.value = static_cast<double>(passed) / static_cast<double>(rate.n);
  return rate;
}

std::vector<std::string> machines_of_timings(const std::vector<Result>& results) {
  std::set<std::string> machines;
  for (const auto& r : results)
    if (r.check == "performance") machines.insert(r.machine);
  if (machines.empty()) machines.emplace();
  return {machines.begin(), machines.end()};
}

std::string on_machine(const std::string& machine) { return machine.empty() ? "" : " on " + machine; }

Geomean geomean_of(const std::vector<Result>& results, const std::string& machine) {
  Geomean geomean;
  double logs = 0, below = 0, above = 0;  // sums of logarithms, and of squared interval widths below and above
  for (const Result* r : timings_of(results, "speedup", machine, geomean)) {
    const double speedup = *metric_of(*r, "speedup");
    logs += std::log(speedup);
    const auto low = metric_of(*r, "speedup_low"), high = metric_of(*r, "speedup_high");
    if (!low || !high) continue;
    below += square(std::log(speedup / *low));
    above += square(std::log(*high / speedup));
  }
  if (geomean.n > 0) {
    const auto n = static_cast<double>(geomean.n);
    geomean.value = std::exp(logs / n);
    geomean.low = std::exp((logs - std::sqrt(below)) / n);
    geomean.high = std::exp((logs + std::sqrt(above)) / n);
  }
  return geomean;
}

Average mean_of(const std::vector<Result>& results, const std::string& metric, const std::string& machine) {
  Average mean;
  for (const Result* r : timings_of(results, metric, machine, mean))
    mean.value += *metric_of(*r, metric.c_str()) / static_cast<double>(mean.n);
  return mean;
}

std::string excluded_text(const Average& average) {
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : average.excluded) reasons.push_back(fmt::format("{} {}", count, reason));
  return fmt::format("{}", fmt::join(reasons, ", "));
}

std::string nothing_judged_words(const std::vector<Result>& results) {
  if (results.empty()) return "nothing was judged: no case ran";
  std::vector<std::string> counts;
  for (const auto& [status, count] : count_by_status(results)) {
    const auto first = std::ranges::find_if(
        results, [&](const Result& r) { return final_status(r) == status && !r.outcome.reason.empty(); });
    counts.push_back(fmt::format("{} {}", count, to_string(status)));
    if (first != results.end()) counts.back() += ": " + first_line(first->outcome.reason);
  }
  const std::string all = results.size() == 1 ? "the case was" : fmt::format("all {} cases were", results.size());
  return fmt::format("nothing was judged: {} left out ({})", all, fmt::join(counts, "; "));
}

int exit_code_of(const std::vector<Result>& results, bool strict_undecided) {
  if (std::ranges::all_of(results, is_skipped)) return ExitCode::nothing_judged;
  const auto codes = [&](const Result& r) {
    const StatusInfo& info = info_of(final_status(r));
    if (info.status == Status::interrupted) return info.exit_code;
    // If the compiler could not run, the program was not judged.
    if (!is_fine(r) && !r.outcome.infrastructure_fault.empty()) return static_cast<int>(ExitCode::infrastructure);
    if (!is_fine(r))
      return info.passing || info.exit_code == ExitCode::success ? ExitCode::gate_failed : info.exit_code;
    return info.status == Status::undecided && r.expected != "undecided" && strict_undecided ? info.exit_code
                                                                                             : ExitCode::success;
  };
  for (const int code : {ExitCode::interrupted, ExitCode::gate_failed, ExitCode::infrastructure, ExitCode::undecided}) {
    if (std::ranges::any_of(results, [&](const Result& r) { return codes(r) == code; })) return code;
  }
  return ExitCode::success;
}

bool counts_instead(const Result& later, const Result& earlier) { return is_fine(earlier) || !is_fine(later); }

std::vector<const Result*> one_of_each_name(const std::vector<Result>& results) {
  std::map<std::string_view, const Result*> chosen;
  for (const auto& result : results) {
    const auto [place, is_new] = chosen.emplace(result.name, &result);
    if (!is_new && counts_instead(result, *place->second)) place->second = &result;
  }
  std::vector<const Result*> ordered;
  for (const auto& result : results)
    if (chosen.at(result.name) == &result) ordered.push_back(&result);
  return ordered;
}

}  // namespace torchstone
