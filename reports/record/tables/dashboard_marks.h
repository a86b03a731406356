#pragma once
#include <optional>
#include <vector>

#include <torchstone/result.h>

#include "reports/record/tables/suite_tables.h"

namespace torchstone::tables {

/// Returns the timings that PyTorch's dashboard flags (FLAG_FNS of benchmarks/dynamo/runner.py): a speed-up below 0.95,
/// a compile of more than 120 s, a compression ratio below 0.9. Nothing if there are none.
std::optional<SuiteTable> dashboard_marks(const std::vector<Result>& results);

}  // namespace torchstone::tables
