#pragma once
#include <string>

#include <torchstone/result.h>

#include "cases/flags/flags.h"

namespace torchstone {

/// Takes the results folder for this run, to the end of the process. It is emptied of all that an earlier run
/// wrote, so that a run that is killed leaves no reports of another one; but not when it is shared with other processes
/// (a ctest run, other shards), and not of files that flags name. Throws FolderHeld when another run has it,
/// FolderRefused when it holds what Torchstone did not write.
/// Returns the origin of the run's plan.
Origin prepare_results(const flags::Flags& flags, const std::string& run);

}  // namespace torchstone
