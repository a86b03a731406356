#pragma once
#include <cstddef>

#include <torchstone/result.h>

#include "cases/main/checks.h"

namespace torchstone {

/// Of a case that has run, whatever it ended in but a skip: writes what --torchstone_coverage, --torchstone_layer_times
/// and --torchstone_log_conv_args ask about its program (fixtures/checks/profile/case_profile.h), and prints its
/// tables. `result` gets where each lies, or why it does not, in the notes `coverage`, `layers` and `conv_args`.
void add_program_tables(Session& session, size_t index, Result& result);

}  // namespace torchstone
