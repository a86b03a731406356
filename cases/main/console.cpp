#include "cases/main/console.h"

#include <algorithm>
#include <filesystem>
#include <strings.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/results_folder/merge.h"
#include "reports/write/annotations.h"

namespace torchstone {

console::Durations earlier_durations(const flags::Flags& flags) {
  console::Durations durations;
  if (!flags.report || !std::filesystem::is_directory(flags.run.out)) return durations;
  try {
    for (const auto& result : results_folder::merge_results({flags.run.out}).report.results)
      if (result.finished && result.duration_s > 0) durations[result.name] = result.duration_s;
  } catch (const ReportError&) {
    durations.clear();
  }
  return durations;
}

std::string kept_line(const std::vector<Result>& results, size_t selected, const flags::Flags& flags) {
  const auto done = std::ranges::count_if(
      results, [](const Result& r) { return r.finished && r.outcome.status != Status::interrupted; });
  return fmt::format("Interrupted: {} of {} selected cases were done; their results are kept in {}\n", done, selected,
                     flags.run.out);
}

bool settle_color(const flags::Flags& flags) {
  ColorChoice choice = *parse_color(flags.color);
  if (const std::string theirs = GTEST_FLAG_GET(color); choice == ColorChoice::automatic && theirs != "auto") {
    const auto is = [&](const char* word) { return strcasecmp(theirs.c_str(), word) == 0; };
    choice = is("yes") || is("true") || is("t") || is("1") ? ColorChoice::always : ColorChoice::never;
  }
  const bool color = use_color(choice);
  GTEST_FLAG_SET(color, color ? "yes" : "no");
  return color;
}

std::string annotations_of(const Report& report, const flags::Flags& flags) {
  const bool here = environment_variable("GITHUB_ACTIONS") == "true";
  if (flags.github == "never" || (flags.github == "auto" && !here)) return "";
  return write::write_annotations(report, environment_variable("GITHUB_WORKSPACE"));
}

}  // namespace torchstone
