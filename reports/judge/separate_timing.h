#pragma once
#include <optional>
#include <string>

#include <torchstone/result.h>

// A variant of a tournament that runs in a process of its own kind, such as torch_compile in Python. Its times can be
// compared only with eager's times in that process. Pure functions.

namespace torchstone::judge {

/// Times against eager in the same process, as the check performance measures them.
struct SeparateTiming {
  double eager_s = 0, seconds = 0;  ///< per call
  double speedup = 0, low = 0, high = 0;
  std::string timed_by{};  ///< what timed both
};

/// Reads the times of a row of performance. Empty if it did not pass, or has no interval.
std::optional<SeparateTiming> separate_timing_of(const Result& result);
/// Returns why such a row has no times; empty if it has.
std::string why_not_timed(const Result& result);

/// Returns "1.32x [1.30 1.35] against eager in its own process, 8.1 ms → 6.1 ms; not ranked".
std::string separate_words(const SeparateTiming& timing);

}  // namespace torchstone::judge
