#pragma once

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

}  // namespace torchstone
