#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Records of one case. For each run, the deviations of the processes' median log ratios from the truth, in order.
using ProcessRecord = std::vector<std::vector<double>>;

/// Reads the records that coverage_of_intervals.py --record writes. Each line has a name and the deviations of one run.
/// Lines with the same name are consecutive. Throws std::runtime_error.
std::vector<ProcessRecord> read_process_records(const std::string& path);

/// Measures how often the verdict over several processes errs, and prints a table. Simulates cases whose processes
/// differ, and judges them with the code for real runs (fixtures/isolate/timed_processes.h). The differences are
/// synthetic, or replayed from `records`. The keys of `records` are kinds of machines, of at most six characters.
/// Returns false if a promise is broken.
bool processes_keep_their_promises(int cases, uint64_t seed,
                                   const std::map<std::string, std::vector<ProcessRecord>>& records);
