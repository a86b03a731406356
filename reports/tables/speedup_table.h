#pragma once
#include <optional>
#include <vector>

#include <torchstone/result.h>

#include "reports/tables/suite_tables.h"

namespace torchstone::tables {

/// Speed-ups with a row a model and a column for each mode, dtype, backend, device, preset and choice of dynamic sizes
/// that the results have (a part that all share is said once, above), and the geometric mean of each column last. Where
/// no speed-up was measured the status says why; a case that the results do not have is an empty cell. Nothing where
/// there is one column: the cases' own tables say that.
std::optional<SuiteTable> speedup_table(const std::vector<Result>& results);

}  // namespace torchstone::tables
