#include "cases/console.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "reports/annotations.h"
#include "reports/merge.h"

namespace torchstone {

Durations earlier_durations(const Flags& flags) {
  Durations durations;
  if (!flags.report || !std::filesystem::is_directory(flags.run.out)) return durations;
  try {
    for (const auto& result : merge_results({flags.run.out}).report.results)
      if (result.finished && result.duration_s > 0) durations[result.name] = result.duration_s;
  } catch (const ReportError&) {
    durations.clear();
  }
  return durations;
}

std::string kept_line(const std::vector<Result>& results, size_t selected, const Flags& flags) {
  const auto done = std::ranges::count_if(
      results, [](const Result& r) { return r.finished && r.outcome.status != Status::interrupted; });
  return fmt::format("Interrupted: {} of {} selected cases were done; their results are kept in {}\n", done, selected,
                     flags.run.out);
}

std::string annotations_of(const std::vector<Result>& results, const Flags& flags) {
  const char *actions = std::getenv("GITHUB_ACTIONS"), *workspace = std::getenv("GITHUB_WORKSPACE");
  const bool here = actions != nullptr && std::string_view(actions) == "true";
  if (flags.github == "never" || (flags.github == "auto" && !here)) return "";
  return write_annotations(results, workspace == nullptr ? "" : workspace);
}

}  // namespace torchstone
