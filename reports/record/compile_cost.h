#pragma once
#include <map>
#include <optional>
#include <string>

namespace torchstone {

/// Whether `compile_s` is the time of a compile that found its parts in the caches of the compiler, as torch_compile's
/// does when it starts again. An artifact of Torchstone's cache has the time of the compile that made it.
bool is_warm_compile(const std::map<std::string, double>& metrics);

/// Returns the number of calls after which a compile of that many seconds has paid: seconds / (eager_ms − compiled_ms).
///
/// Empty if nothing was compiled, or if the compiled program is not significantly faster (speedup_low ≤ 1). The
/// difference of two equal medians is noise and would give arbitrary numbers.
std::optional<double> calls_to_pay(const std::map<std::string, double>& metrics, double compile_s);

/// Returns calls_to_pay() the compile of the same row. Empty too if that compile was warm, because its time is not what
/// a user without the caches waits.
std::optional<double> break_even_calls(const std::map<std::string, double>& metrics);

}  // namespace torchstone
