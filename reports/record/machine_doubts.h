#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

namespace torchstone {

/// What of the machine is known to disturb timings, one sentence each: for the whole run, not for one row. Empty for a
/// run in which nothing was timed.
std::vector<std::string> machine_doubts(const std::vector<Result>& results, const Facts& machine);

/// The same of the facts alone.
std::vector<std::string> machine_doubts(const Facts& machine);

}  // namespace torchstone
