#pragma once
#include <string>
#include <vector>

#include <torchstone/report_writer.h>
#include <torchstone/result.h>

namespace torchstone::tables {

struct Quantiles {
  double low = 0, median = 0, high = 0;  ///< 0.2, 0.5, 0.8; NaN of nothing
};

/// The speed-ups of one operator over its inputs, of one backend.
struct OperatorSpeedup {
  std::string suite, dtype, name;  ///< aten.add.Tensor
  std::string backend;
  size_t inputs = 0;      ///< whose speed-up was measured and whose answer is right
  size_t failed = 0;      ///< that were run and gave neither
  double calls = 0;       ///< of the measured inputs in the logged programs; 1 for an input that is in none
  Quantiles over_inputs;  ///< upstream's: each input counts once
  Quantiles over_calls;   ///< each input counts as often as it was called
};

/// Whether the result is a call of one operator, which these tables count.
bool is_of_an_operator(const Result& result);

/// One entry for each suite, dtype, operator and backend among the performance results of operators, in this order; the
/// last of several results of a name counts.
std::vector<OperatorSpeedup> operator_speedups(const std::vector<Result>& results);

/// operatorbench_SUITE_DTYPE.csv as upstream's operatorbench.py writes it: Operator, then `BACKEND 20th`, `50th` and
/// `80th` of each backend, 6 decimals; an empty cell where nothing was measured. No file without operators.
NamedTexts write_operatorbench_csvs(const std::vector<Result>& results);

/// Upstream's lines, `  aten.add.Tensor: inductor=1.23x (0.98-1.31)`, under a heading with the dtype; none without
/// operators.
std::vector<std::string> operatorbench_lines(const std::vector<Result>& results);

}  // namespace torchstone::tables
