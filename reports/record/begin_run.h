#pragma once
#include <torchstone/run_info.h>

namespace torchstone {

/// The run that begins now, with everything that needs no torch.
RunInfo begin_run(int argc, const char* const* argv);

/// The variables of this process that can change a result: those of Torchstone, GoogleTest, PyTorch, OpenMP, CUDA, the
/// allocator and the dynamic linker.
Facts environment_facts();

/// What this machine is. `host` is a hash: results are compared by machine without giving its name away.
/// A fact that cannot be read is absent.
Facts machine_facts();

}  // namespace torchstone
