#include "reports/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/operatorbench.h"
#include "reports/row.h"
#include "reports/text.h"

namespace torchstone {
namespace {

constexpr size_t worst_shown = 10, paths_shown = 4, statuses_a_line = 7, line_width = 160;

double square(double x) { return x * x; }

bool left_out(const Result& r) { return r.finished && info_of(r.outcome.status).junit == JUnitKind::skipped; }

std::string combination(const Result& r) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", r.suite, r.model, r.mode, r.dtype, r.device, r.backend, r.preset);
}

std::optional<double> metric_of(const Result& r, const char* key) {
  const auto found = r.outcome.metrics.find(key);
  return found == r.outcome.metrics.end() ? std::nullopt : std::optional(found->second);
}

std::vector<const Result*> worst_of(const std::vector<Result>& results) {
  std::vector<const Result*> worst;
  for (const auto& result : results) {
    if (!is_fine(result) || (!left_out(result) && margin_of(result) > 0)) worst.push_back(&result);
  }
  std::ranges::stable_sort(worst, [](const Result* a, const Result* b) {
    if (is_fine(*a) != is_fine(*b)) return !is_fine(*a);
    return margin_of(*a) > margin_of(*b);
  });
  if (worst.size() > worst_shown) worst.resize(worst_shown);
  return worst;
}

std::string worst_line(const Result& r) {
  std::string line = fmt::format("  {} {}", verdict_of(r).mark, short_name(r.name));
  if (r.outcome.status != Status::pass || !is_fine(r)) line += fmt::format("  {}", to_string(r.outcome.status));
  if (!is_fine(r) && r.expected != "pass") line += ", expected " + r.expected;
  if (const std::string numbers = numbers_line(r); !numbers.empty()) line += "  " + numbers;
  if (!is_fine(r) && !r.outcome.reason.empty()) line += "  " + first_line(r.outcome.reason);
  return line;
}

std::string geomean_line(const Geomean& geomean) {
  const std::string reasons = left_out_words(geomean);
  const std::string excluded = reasons.empty() ? "" : "; left out: " + reasons;
  if (geomean.n == 0) return "  speed-up: not measured" + excluded;
  return fmt::format("  speed-up: geometric mean {:.3f}x over {}{}", geomean.value, geomean.n, excluded);
}

/// The other numbers that upstream closes with; empty when none was measured.
std::string averages_line(const std::vector<Result>& results) {
  std::vector<std::string> parts;
  if (const Average rate = pass_rate_of(results); rate.n > 0) {
    const std::string reasons = left_out_words(rate);
    parts.push_back(fmt::format("pass rate {:.1f} % of {}{}", 100 * rate.value, rate.n,
                                reasons.empty() ? "" : fmt::format(" (left out: {})", reasons)));
  }
  if (const Average compile = mean_of(results, "compile_s"); compile.n > 0)
    parts.push_back(fmt::format("compile: mean {:.1f} s over {}", compile.value, compile.n));
  if (const Average ratio = mean_of(results, "compression_ratio"); ratio.n > 0)
    parts.push_back(fmt::format("peak memory, eager / compiled: mean {:.3f}x over {}", ratio.value, ratio.n));
  return parts.empty() ? "" : fmt::format("  {}", fmt::join(parts, "; "));
}

/// The timings whose answers are right and whose metric is a number above 0; the others are counted by reason.
std::vector<const Result*> timings_of(const std::vector<Result>& results, const std::string& metric, Average& average) {
  std::set<std::string> wrong;
  for (const auto& r : results) {
    if (r.check == "accuracy" && (!r.finished || !info_of(r.outcome.status).passing)) wrong.insert(combination(r));
  }
  std::vector<const Result*> values;
  for (const auto& r : results) {
    if (r.check != "performance") continue;
    const auto value = metric_of(r, metric.c_str());
    if (wrong.contains(combination(r)))
      ++average.left_out["with a wrong answer"];
    else if (!value || !std::isfinite(*value) || *value <= 0)
      ++average.left_out[std::string(to_string(r.outcome.status))];
    else
      values.push_back(&r);
  }
  average.n = values.size();
  return values;
}

}  // namespace

bool is_fine(const Result& r) { return r.finished && r.as_expected(); }

double margin_of(const Result& r) {
  const double infinity = std::numeric_limits<double>::infinity();
  double worst = is_fine(r) ? 0 : 1;
  if (const auto error = metric_of(r, "error_of_limit"))
    worst = std::max(worst, std::isnan(*error) ? infinity : *error);
  if (const auto low = metric_of(r, "speedup_low"); low && *low > 0) {
    worst = std::max(worst, metric_of(r, "required_speedup").value_or(1) / *low);
  }
  const bool judged = r.outcome.metrics.contains("error_of_limit") || r.outcome.metrics.contains("speedup_low");
  return !is_fine(r) && !judged ? infinity : worst;
}

std::vector<std::pair<Status, size_t>> count_by_status(const std::vector<Result>& results) {
  std::vector<std::pair<Status, size_t>> counts;
  for (const auto& info : status_table()) {
    const auto count = std::ranges::count_if(
        results, [&](const Result& r) { return (r.finished ? r.outcome.status : Status::crash) == info.status; });
    if (count > 0) counts.emplace_back(info.status, count);
  }
  return counts;
}

Average pass_rate_of(const std::vector<Result>& results) {
  Average rate;
  size_t passed = 0;
  for (const auto& r : results) {
    if (r.check != "accuracy") continue;
    if (left_out(r)) {
      ++rate.left_out[std::string(to_string(r.outcome.status))];
      continue;
    }
    ++rate.n;
    passed += r.finished && r.outcome.status == Status::pass;
  }
  if (rate.n > 0) rate.value = static_cast<double>(passed) / static_cast<double>(rate.n);
  return rate;
}

Geomean geomean_of(const std::vector<Result>& results) {
  Geomean geomean;
  double logs = 0, below = 0, above = 0;  // of the logarithms: their sum, and the squared parts of the intervals
  for (const Result* r : timings_of(results, "speedup", geomean)) {
    const double speedup = *metric_of(*r, "speedup");
    logs += std::log(speedup);
    below += square(std::log(speedup / metric_of(*r, "speedup_low").value_or(speedup)));
    above += square(std::log(metric_of(*r, "speedup_high").value_or(speedup) / speedup));
  }
  if (geomean.n > 0) {
    const auto n = static_cast<double>(geomean.n);
    geomean.value = std::exp(logs / n);
    geomean.low = std::exp((logs - std::sqrt(below)) / n);
    geomean.high = std::exp((logs + std::sqrt(above)) / n);
  }
  return geomean;
}

Average mean_of(const std::vector<Result>& results, const std::string& metric) {
  Average mean;
  for (const Result* r : timings_of(results, metric, mean))
    mean.value += *metric_of(*r, metric.c_str()) / static_cast<double>(mean.n);
  return mean;
}

std::string left_out_words(const Average& average) {
  std::vector<std::string> reasons;
  for (const auto& [reason, count] : average.left_out) reasons.push_back(fmt::format("{} {}", count, reason));
  return fmt::format("{}", fmt::join(reasons, ", "));
}

int exit_code_of(const std::vector<Result>& results, bool strict_undecided) {
  if (std::ranges::all_of(results, left_out)) return 3;
  const auto codes = [&](const Result& r) {
    const StatusInfo& info = info_of(r.finished ? r.outcome.status : Status::crash);
    if (info.status == Status::interrupted) return info.exit_code;
    // A compiler that could not even be asked says nothing about the program.
    if (!is_fine(r) && r.outcome.notes.contains("infrastructure")) return 4;
    if (!is_fine(r)) return info.passing || info.exit_code == 0 ? 1 : info.exit_code;
    return info.status == Status::undecided && r.expected != "undecided" && strict_undecided ? info.exit_code : 0;
  };
  for (const int code : {130, 1, 4, 5}) {
    if (std::ranges::any_of(results, [&](const Result& r) { return codes(r) == code; })) return code;
  }
  return 0;
}

std::string write_summary(const std::vector<Result>& results, const RunInfo& run,
                          const std::vector<std::string>& report_paths) {
  std::vector<std::string> lines;
  const auto fine = std::ranges::count_if(results, is_fine);
  lines.push_back(fmt::format("Torchstone: {} of {} cases as expected, {:.0f} s{}", fine, results.size(),
                              run.duration_s,
                              run.exit_reason.empty() || run.exit_reason == "finished" ? "" : ", " + run.exit_reason));
  size_t counted = 0;
  for (const auto& [status, count] : count_by_status(results)) {
    const std::string text = fmt::format("{} {}", count, to_string(status));
    if (counted++ % statuses_a_line == 0)
      lines.push_back("  " + text);
    else
      lines.back() += ", " + text;
  }
  const auto is_timing = [](const Result& r) { return r.check == "performance"; };
  if (std::ranges::any_of(results, is_timing)) lines.push_back(geomean_line(geomean_of(results)));
  if (const std::string averages = averages_line(results); !averages.empty()) lines.push_back(averages);
  for (auto& line : operatorbench_lines(results)) lines.push_back(std::move(line));
  if (const auto worst = worst_of(results); !worst.empty()) {
    lines.emplace_back("Worst first:");
    for (const Result* result : worst) lines.push_back(worst_line(*result));
  }
  const auto undone = static_cast<size_t>(results.size() - fine);
  if (undone > worst_shown) lines.push_back(fmt::format("  … and {} more not as expected", undone - worst_shown));
  if (!report_paths.empty()) lines.emplace_back("Reports:");
  for (size_t i = 0; i < std::min(report_paths.size(), paths_shown); ++i) lines.push_back("  " + report_paths[i]);
  if (report_paths.size() > paths_shown)
    lines.push_back(fmt::format("  and {} more", report_paths.size() - paths_shown));
  for (auto& line : lines) line = shortened(printable(line), line_width);
  const auto first = std::ranges::find_if(results, [](const Result& r) { return !is_fine(r) && !r.reproduce.empty(); });
  if (first != results.end()) lines.push_back("Again: " + printable(first_line(first->reproduce)));
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace torchstone
