#include "cases/main/baseline_gate.h"

#include <ostream>
#include <set>

#include "reports/base/exit_code.h"
#include "reports/judge/baseline_report.h"

namespace torchstone {

std::optional<judge::Baseline> read_baseline(const flags::Flags& flags) {
  if (flags.baseline.empty()) return std::nullopt;
  return judge::read_baseline(flags.baseline);
}

void require_matching(const judge::Baseline& baseline, const std::vector<Result>& planned) {
  if (baseline.table) judge::match(*baseline.table, {{}, planned});
}

int judge_against(const judge::Baseline& baseline, const Report& run, int exit_code, std::ostream& out,
                  std::ostream& err) {
  // A filter or a shard leaves cases out; they are not gone.
  std::set<std::string> names;
  for (const auto& result : run.results) names.insert(result.name);
  judge::Baseline same_cases = baseline;
  std::erase_if(same_cases.report.results, [&](const Result& result) { return !names.contains(result.name); });
  const auto comparison = judge::compare_with(same_cases, run);
  out << write_comparison(comparison) << std::flush;
  const int compared = exit_code_of(comparison);
  if (compared == ExitCode::usage_error)
    err << "torchstone: the baseline was taken on another machine: its timings were not compared (torchstone-report "
           "compare --other-machine compares them all the same)\n";
  if (compared == ExitCode::nothing_judged) err << "torchstone: the baseline has none of these cases\n";
  if (compared == ExitCode::gate_failed) return exit_code == ExitCode::interrupted ? exit_code : compared;
  return exit_code == ExitCode::success ? compared : exit_code;
}

}  // namespace torchstone
