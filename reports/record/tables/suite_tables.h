#pragma once
#include <optional>
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone::tables {

/// A table that sums up the results of a suite.
struct SuiteTable {
  std::string title, explanation;
  std::vector<std::string> header;
  size_t texts = 1;  ///< number of leading columns with text; the others have numbers
  std::vector<std::vector<std::string>> rows;
};

/// Returns the tables for which there are results: speed-ups by model, cost of dynamic sizes, operators of each suite
/// and dtype, upstream's runners of fastrnns, timings that PyTorch's dashboard flags. Operators have quantiles of the
/// speed-up, with each input weighted by its calls in the log. For the user's own model there are no means and no
/// speed-ups by model. An empty cell was not measured.
std::vector<SuiteTable> suite_tables(const std::vector<Result>& results);

/// Returns the timings that PyTorch's dashboard flags (FLAG_FNS of benchmarks/dynamo/runner.py): a speed-up below 0.95,
/// a compile of more than 120 s, a compression ratio below 0.9. Empty if it flags none.
std::optional<SuiteTable> dashboard_marks(const std::vector<Result>& results);

/// Returns what distinguishes the cases of a model: "inference float32 inductor cpu mini". A file has no preset.
std::string run_words(const Result& result);

/// Returns speed-ups with one row per model. There is a column for each combination of mode, dtype, backend, device,
/// preset and dynamic sizes; parts that all columns share are in the heading. The last row has the geometric means. A
/// case without a speed-up shows its status, and a missing case is an empty cell. Returns nothing for a single column,
/// because the tables of cases have the same numbers.
std::optional<SuiteTable> speedup_table(const std::vector<Result>& results);

/// Timings of a program of dynamic sizes at one batch size, and at one size of every other dynamic dimension.
/// Milliseconds per call; each ratio with its interval.
struct DynamicTiming {
  std::string sizes;  ///< "4", or "batch 4 and length 12"
  double batch = 0, eager_ms = 0, dynamic_ms = 0, static_ms = 0;
  double speedup = 0, speedup_low = 0, speedup_high = 0;  ///< eager / dynamic
  double cost = 0, cost_low = 0, cost_high = 0;           ///< dynamic / static

  /// Speed-up of the static program: the product of speedup and cost.
  double static_speedup() const { return speedup * cost; }
};
/// Returns the timings of a result, in ascending batches; none if its samples differ in length.
std::vector<DynamicTiming> dynamic_timings(const Result& result);

/// Returns the cost of dynamic sizes, with a row for each case and size that was timed. The last rows have geometric
/// means over the cases: the cost at the compiled sizes, and the compile time over that of the static program. Returns
/// nothing without dynamic cases.
std::optional<SuiteTable> dynamic_table(const std::vector<Result>& results);

}  // namespace torchstone::tables
