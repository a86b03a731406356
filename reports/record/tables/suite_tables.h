#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone::tables {

/// What a suite's results come to, beyond one row a case.
struct SuiteTable {
  std::string title, explanation;
  std::vector<std::string> header;
  size_t texts = 1;  ///< so many columns are text, the others numbers
  std::vector<std::vector<std::string>> rows;
};

/// Speed-ups by model, then what dynamic sizes cost, then one table for the operators of each suite and dtype
/// (quantiles of speed-up, each input weighed by its calls in the log), then one for the runners of fastrnns
/// (upstream's); none for results without them. An empty cell was not measured.
std::vector<SuiteTable> suite_tables(const std::vector<Result>& results);

/// Speed-ups with a row a model and a column for each mode, dtype, backend, device, preset and choice of dynamic sizes
/// that the results have (a part that all share is said once, above), and the geometric mean of each column last. Where
/// no speed-up was measured the status says why; a case that the results do not have is an empty cell. Nothing where
/// there is one column: the cases' own tables say that.
std::optional<SuiteTable> speedup_table(const std::vector<Result>& results);

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
