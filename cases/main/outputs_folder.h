#pragma once
#include <torchstone/case.h>

#include "cases/flags/flags.h"

namespace torchstone {

/// Before the first case: makes the folder of --torchstone_save_outputs, with a marker, and requires that of
/// --torchstone_compare_outputs to have one. Throws std::runtime_error for a folder without a marker that holds other
/// files, for one that cannot be used, and when both are the same folder.
void prepare_outputs(const flags::Flags& flags);

/// Takes away what an earlier run saved of this case, before it runs: a case that dies leaves nothing that could be
/// taken for its outputs. Only in the folder that prepare_outputs() has marked.
void remove_saved_outputs(const flags::Flags& flags, const Case& c);

}  // namespace torchstone
