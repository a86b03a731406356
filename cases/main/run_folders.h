#pragma once
#include <string>

#include <torchstone/case.h>
#include <torchstone/result.h>

#include "cases/settings/flags.h"

namespace torchstone {

/// Holds the results folder for this run until the process ends, and returns the origin of the run's plan. Removes the
/// files of an earlier run, so that a killed run leaves no reports of another one. Files that flags name stay, and so
/// does everything in a folder that is shared with other processes (a ctest run, other shards). Throws FolderHeld if
/// another run holds the folder, and FolderRefused if it has files that Torchstone did not write.
Origin prepare_results(const flags::Flags& flags, const std::string& run);

/// Makes the folder of --torchstone_save_outputs, with a marker, and checks that the folder of
/// --torchstone_compare_outputs has one. Called before the first case. Throws std::runtime_error for a folder with
/// other files and no marker, for one that cannot be used, and if both are the same folder.
void prepare_outputs(const flags::Flags& flags);

/// Removes the outputs of an earlier run of this case, so that they are not mistaken for its own if it dies. Only in
/// the folder that prepare_outputs() has marked.
void remove_saved_outputs(const flags::Flags& flags, const Case& c);

}  // namespace torchstone
