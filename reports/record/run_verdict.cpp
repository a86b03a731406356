#include "reports/record/run_verdict.h"

#include <fmt/format.h>

#include "reports/base/process.h"
#include "reports/record/detection.h"
#include "reports/record/noise.h"
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
  std::string text;
  const auto add = [&](const std::string& line) { text += (text.empty() || line.empty() ? "" : "\n") + line; };
  for (const char* key : {"worse_than_baseline", "different_model"})
    if (const auto note = result.outcome.notes.find(key); note != result.outcome.notes.end()) add(note->second);
  add(result.outcome.reason);
  if (const std::string noise = noisy_reason(result); !noise.empty()) add("noisy: " + noise);
  if (const std::string weak = weak_reason(result); !weak.empty()) add("weak: " + weak);
  return text;
}

std::string baseline_verdict_words(const Result& result) {
  if (!result.is_red_by_baseline()) return "";
  if (result.outcome.notes.contains("different_model")) return "another model than the baseline's";
  return is_left_out(result) ? "gone since the baseline" : "worse than the baseline";
}

std::vector<std::string> baseline_lines(const RunInfo& run) {
  if (!run.baseline) return {};
  std::vector<std::string> lines = {fmt::format("baseline {}: {}", run.baseline->path, run.baseline->summary)};
  lines.insert(lines.end(), run.baseline->remarks.begin(), run.baseline->remarks.end());
  return lines;
}

std::string comparison_again(const RunInfo& run, const Result& result) {
  return run.baseline && !result.as_expected() && result.status_as_expected() ? run.baseline->again : "";
}

}  // namespace torchstone
