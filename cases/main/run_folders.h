#pragma once
#include <string>

#include <torchstone/case.h>
#include <torchstone/result.h>

#include "cases/settings/flags.h"

namespace torchstone {

/// Takes the results folder for this run, to the end of the process. It is emptied of all that an earlier run
/// wrote, so that a run that is killed leaves no reports of another one; but not when it is shared with other processes
/// (a ctest run, other shards), and not of files that flags name. Throws FolderHeld when another run has it,
/// FolderRefused when it holds what Torchstone did not write.
/// Returns the origin of the run's plan.
Origin prepare_results(const flags::Flags& flags, const std::string& run);

/// Before the first case: makes the folder of --torchstone_save_outputs, with a marker, and requires that of
/// --torchstone_compare_outputs to have one. Throws std::runtime_error for a folder without a marker that holds other
/// files, for one that cannot be used, and when both are the same folder.
void prepare_outputs(const flags::Flags& flags);

/// Takes away what an earlier run saved of this case, before it runs: a case that dies leaves nothing that could be
/// taken for its outputs. Only in the folder that prepare_outputs() has marked.
void remove_saved_outputs(const flags::Flags& flags, const Case& c);

}  // namespace torchstone
