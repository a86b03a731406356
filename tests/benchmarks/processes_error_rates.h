#pragma once
#include <cstdint>

/// How often the verdict over processes errs: simulated cases whose processes differ, judged by the code that judges a
/// run (fixtures/isolate/timed_processes.h). Prints a table; false when a promise is not kept.
bool processes_keep_their_promises(int cases, uint64_t seed);
