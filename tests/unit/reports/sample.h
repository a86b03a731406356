#pragma once
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "tests/temporary_folder.h"

namespace torchstone {

inline constexpr double nan_value = std::numeric_limits<double>::quiet_NaN(),
                        infinity = std::numeric_limits<double>::infinity();

/// Returns one result of every status, and results that are difficult to write: hostile names, NaN, infinities,
/// Unicode, invalid UTF-8, control characters, expected failures, unexpected passes, an unfinished case, repeated
/// names, and two presets.
std::vector<Result> sample_results();
RunInfo sample_run();

/// Returns a result with only the fields that a test needs.
Result simple_result(const std::string& name, Status status, const std::string& check = "accuracy");

/// Returns how often `part` occurs in `text`.
size_t count_of(const std::string& text, const std::string& part);

struct Finished {
  int exit_code;
  std::string output;  ///< standard output and error together
};
/// Runs a command line of sh.
Finished run_line(const std::string& line);
/// Returns whether a program is in PATH.
bool is_installed(const std::string& program);

}  // namespace torchstone
