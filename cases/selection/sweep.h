#pragma once
#include <vector>

#include "cases/selection/expand.h"

namespace torchstone::selection {

/// expand(), once for each combination of the values in flags.sweeps, one combination after the other; the same as
/// expand() where nothing is swept. A swept case has its combination behind its name (`_batch_size_8_threads_2`, which
/// is its origin `sweep`), so that names stay different. A case that a combination does not change, because its model's
/// batch is fixed, is there once and skipped afterwards.
Expansion expand_sweep(const std::vector<suite::Suite>& suites, const Known& known, const flags::Flags& flags);

}  // namespace torchstone::selection
