#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Of one case: of each run the deviations of its processes' median log ratios from the truth, in their order.
using ProcessRecord = std::vector<std::vector<double>>;

/// Lines of a name and the deviations of one run, as coverage_of_intervals.py --record writes them; those of a name
/// follow each other. Throws std::runtime_error.
std::vector<ProcessRecord> read_process_records(const std::string& path);

/// How often the verdict over processes errs: simulated cases whose processes differ, judged by the code that judges a
/// run (fixtures/isolate/timed_processes.h). Their differences are made up, and replayed from `records`. Prints a
/// table; false when a promise is not kept. `records`: by the kind of machine, of at most six characters.
bool processes_keep_their_promises(int cases, uint64_t seed,
                                   const std::map<std::string, std::vector<ProcessRecord>>& records);
