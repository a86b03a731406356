#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone::write {

/// results.csv: a row for every result, a column for every member and every declared metric; numbers exact (nan, inf,
/// -inf, which pandas and R read), an empty cell where nothing was measured or is known.
std::string write_wide_csv(const std::vector<Result>& results);

/// summary.csv: what upstream's driver prints when it ends, a row for each suite, backend, dtype, mode, device and
/// preset and choice of dynamic sizes: pass rate, geometric mean of the speed-ups, means of compile time and memory
/// compression (reports/record/summary.h says over what), each with the number of cases behind it, and what was left
/// out; then how many rows are noisy, and what the passes prove (reports/record/doubts.h); an empty cell for an
/// average over nothing.
std::string write_summary_csv(const std::vector<Result>& results);

/// What was found of largest batches (the metric largest_batch), a line NAME,SIZE for each model, as
/// --torchstone_batch_size_file takes it: the smallest where a model has several; empty when there are none.
std::string write_batch_sizes(const std::vector<Result>& results);

}  // namespace torchstone::write
