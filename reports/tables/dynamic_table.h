#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/tables/suite_tables.h"

namespace torchstone::tables {

/// One batch, with the further dimensions where they vary, at which a program of dynamic sizes was timed. Milliseconds
/// a call; each ratio with its interval.
struct DynamicTiming {
  std::string sizes;  ///< "4", or "batch 4 and length 12"
  double batch = 0, eager_ms = 0, dynamic_ms = 0, static_ms = 0;
  double speedup = 0, speedup_low = 0, speedup_high = 0;  ///< eager / dynamic
  double cost = 0, cost_low = 0, cost_high = 0;           ///< dynamic / static

  /// Eager over the static program, by the two ratios.
  double static_speedup() const { return speedup * cost; }
};
/// Those of a result, in ascending batches; none where its samples are not of one length.
std::vector<DynamicTiming> dynamic_timings(const Result& result);

/// What it costs to be dynamic: a row for each case and sizes that were timed, and last the geometric means over the
/// cases at the sizes compiled for: cost, and compile time beside that of the static program. Nothing without such
/// cases.
std::optional<SuiteTable> dynamic_table(const std::vector<Result>& results);

}  // namespace torchstone::tables
