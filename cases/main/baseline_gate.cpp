#include "cases/main/baseline_gate.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/exit_code.h"
#include "reports/base/terminal_text.h"
#include "reports/judge/comparison/baseline_report.h"
#include "reports/record/repetitions.h"

namespace torchstone {
namespace {

/// A baseline in the results folder itself is gone when the run begins, or when the new results are written there.
bool is_replaced(const std::string& path, const flags::Flags& flags) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path baseline = fs::weakly_canonical(path, error), out = fs::weakly_canonical(flags.run.out, error);
  return baseline == out || baseline == out / "results.json" || !fs::exists(baseline, error);
}

std::string again_words(const flags::Flags& flags) {
  std::string words = "torchstone-report compare";
  for (const auto& path : flags.baseline) {
    if (is_replaced(path, flags)) return "";
    words += " " + flags::shell_quoted(path);
  }
  words += " " + flags::shell_quoted(flags.run.out);
  return flags.baseline_history.empty() ? words : words + " --history " + flags::shell_quoted(flags.baseline_history);
}

std::string why_of(int exit_code, const judge::BaselineComparison& comparison) {
  if (exit_code == ExitCode::gate_failed) return "worse than the baseline";
  const std::string refusal = judge::refusal_words(comparison);
  return exit_code == ExitCode::usage_error
             ? refusal + " (torchstone-report compare --other-machine compares them all the same)"
             : refusal;
}

/// On the record that was compared: of several the one that stands for its case.
void note(const judge::BaselineComparison& comparison, std::vector<Result>& results) {
  std::map<std::string_view, Result*> compared;
  for (const Result* one : one_of_each_name(results))
    compared[one->name] = &results[static_cast<size_t>(one - results.data())];
  for (const auto& change : comparison.cases) {
    if (change.status_worse || change.change != judge::Change::slower) continue;  // a status is red by itself
    if (const auto found = compared.find(change.name); found != compared.end())
      found->second->outcome.notes["worse_than_baseline"] =
          fmt::format("worse than the baseline: {}", judge::worse_words(change));
  }
}

}  // namespace

std::optional<judge::Baseline> read_baseline(const flags::Flags& flags) {
  if (flags.baseline.empty()) return std::nullopt;
  judge::Baseline baseline = judge::read_baseline(flags.baseline);
  for (const auto& warning : baseline.warnings) print_error("warning: " + warning);
  return baseline;
}

judge::BaselineOptions baseline_options(const flags::Flags& flags) {
  judge::BaselineOptions options;
  std::vector<std::string> warnings;
  if (!flags.baseline_history.empty()) options.history = judge::read_history(flags.baseline_history, &warnings);
  for (const auto& warning : warnings) print_error("warning: " + warning);
  return options;
}

void require_matching(const judge::Baseline& baseline, const std::vector<Result>& planned) {
  if (baseline.table) judge::match(*baseline.table, {{}, planned});
}

BaselineVerdict judge_against(const judge::Baseline& baseline, const judge::BaselineOptions& options,
                              const flags::Flags& flags, Report& run) {
  std::set<std::string> names;
  for (const auto& result : run.results) names.insert(result.name);
  judge::Baseline same_cases = baseline;
  std::erase_if(same_cases.report.results, [&](const Result& result) { return !names.contains(result.name); });
  const auto comparison = judge::compare_with(same_cases, run, options);
  run.run.baseline = BaselineFacts{fmt::format("{}", fmt::join(flags.baseline, ", ")), judge::counts_line(comparison),
                                   judge::remarks_of(comparison), again_words(flags)};
  note(comparison, run.results);
  const int exit_code = exit_code_of(comparison);
  return {exit_code, why_of(exit_code, comparison), write_comparison(comparison)};
}

}  // namespace torchstone
