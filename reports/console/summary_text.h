#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

namespace torchstone::console {

/// The closing summary, at most 25 lines of `width` columns: counts, averages, the ten worst (fewer where those lines
/// would not do), and last what a person types next: the page to open and the command that reproduces the first
/// failure. These two are never shortened.
std::string write_summary(const std::vector<Result>& results, const RunInfo& run,
                          const std::vector<std::string>& report_paths, size_t width = 160);

}  // namespace torchstone::console
