#include "reports/record/run_verdict.h"

#include <fmt/format.h>

#include "reports/base/exit_code.h"
#include "reports/record/summary.h"

namespace torchstone {

int exit_code_of(const Report& report) {
  return report.run.exit_code ? *report.run.exit_code : exit_code_of(report.results, /*strict_undecided=*/false);
}

std::string exit_words(int code) {
  switch (code) {
    case ExitCode::success:
      return "all as expected";
    case ExitCode::gate_failed:
      return "an accuracy or speed-up gate failed";
    case ExitCode::usage_error:
      return "something could not be used as it was given";
    case ExitCode::nothing_judged:
      return "nothing was judged";
    case ExitCode::infrastructure:
      return "infrastructure: compiler missing, crash, timeout or out of memory";
    case ExitCode::undecided:
      return "undecided";
    default:
      return "interrupted; what was finished is here";
  }
}

std::string exit_words_of(const Report& report) {
  return report.run.exit_words.empty() ? exit_words(exit_code_of(report)) : report.run.exit_words;
}

std::string reason_of(const Result& result) {
  const auto worse = result.outcome.notes.find("worse_than_baseline");
  if (worse == result.outcome.notes.end()) return result.outcome.reason;
  return result.outcome.reason.empty() ? worse->second : worse->second + "\n" + result.outcome.reason;
}

std::vector<std::string> baseline_lines(const RunInfo& run) {
  if (!run.baseline) return {};
  std::vector<std::string> lines = {fmt::format("baseline {}: {}", run.baseline->path, run.baseline->summary)};
  lines.insert(lines.end(), run.baseline->remarks.begin(), run.baseline->remarks.end());
  return lines;
}

}  // namespace torchstone
