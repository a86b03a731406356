#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone::judge {

/// The samples of that name; empty where the record has none.
const std::vector<double>& samples_of(const Result& result, const std::string& key);

/// Where the threads of the processes lay that count, or of those whose samples have this prefix: the median of their
/// fork_join_us (reports/statistics/near_processes.h); 0 where it is not known.
double fork_join_us_of(const Result& result, const std::string& prefix = "");

}  // namespace torchstone::judge
