#pragma once
#include <map>
#include <optional>
#include <string>

namespace torchstone {

/// Whether `compile_s` is the time of a compile with warm compiler caches, as when torch_compile starts again. An
/// artifact from Torchstone's cache has the time of the compile that made it.
bool is_warm_compile(const std::map<std::string, double>& metrics);

/// Returns the number of calls after which a compile of that many seconds pays off: seconds / (eager_ms − compiled_ms).
///
/// Empty if nothing was compiled, or if the compiled program is not significantly faster (speedup_low ≤ 1). The
/// difference of two equal medians is noise and would give arbitrary numbers.
std::optional<double> calls_to_pay(const std::map<std::string, double>& metrics, double compile_s);

/// Returns calls_to_pay() for the compile of the same row. Also empty for a warm compile, because users without the
/// caches wait longer.
std::optional<double> break_even_calls(const std::map<std::string, double>& metrics);

}  // namespace torchstone
