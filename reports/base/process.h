#pragma once
#include <string>
#include <string_view>

namespace torchstone {

/// What torchstone and torchstone-report end with: the only place that knows the numbers (docs/ci.md).
struct ExitCode {
  enum Value : int {
    success = 0,
    gate_failed = 1,     ///< a wrong answer, a missed speed-up, something worse than the baseline
    usage_error = 2,     ///< a flag or a file that cannot be used
    nothing_judged = 3,  ///< nothing selected, nothing measured, nothing compared
    infrastructure = 4,  ///< crash, time-out, lack of memory, no compiler, a report that could not be written
    undecided = 5,       ///< when asked to be strict
    interrupted = 130,   ///< as shells say it of SIGINT
  };
};

/// The value of an environment variable; empty when it is not set.
std::string environment_variable(const char* name);

/// Opens on /dev/null what is closed of the descriptors 0 to 2. To be called first of all: a file or a pipe that got
/// such a number would be written to as if it were the program's output. Throws std::system_error.
void open_standard_descriptors();

/// The version of Torchstone, as `project(VERSION)` in the top-level CMakeLists.txt has it: "0.1.0".
std::string_view version();

}  // namespace torchstone
