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

/// One result of every status, and what is awkward: hostile names, NaN, infinities, Unicode, broken UTF-8, control
/// characters, expected failures, unexpected passes, an unfinished case, repeated names, two presets.
std::vector<Result> sample_results();
RunInfo sample_run();

/// A result that only has what a test needs.
Result simple_result(const std::string& name, Status status, const std::string& check = "accuracy");

/// How often `part` stands in `text`.
size_t count_of(const std::string& text, const std::string& part);

struct Finished {
  int exit_code;
  std::string output;  ///< standard output and error together
};
/// Runs a line of sh.
Finished run_line(const std::string& line);
/// Whether a program is in PATH.
bool is_installed(const std::string& program);

}  // namespace torchstone
