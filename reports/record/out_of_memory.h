#pragma once
#include <torchstone/status.h>

namespace torchstone {

/// Of whichever step.
inline bool is_out_of_memory(Status status) { return to_string(status).ends_with("OOM"); }

}  // namespace torchstone
