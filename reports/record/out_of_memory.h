#pragma once
#include <torchstone/status.h>

namespace torchstone {

/// Of whichever step.
inline bool is_out_of_memory(Status status) {
  return status == Status::OOM || status == Status::eager_1st_run_OOM || status == Status::eager_2nd_run_OOM;
}

}  // namespace torchstone
