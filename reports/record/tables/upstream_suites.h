#pragma once
#include <array>
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
  std::string backend;             ///< with its machine if the results are of several
  size_t inputs = 0;               ///< whose speed-up was measured and whose answer is right
  size_t failed = 0;               ///< that were run and gave neither
  double calls = 0;                ///< of the measured inputs in the logged programs; 1 for an input that is in none
  Quantiles over_inputs;           ///< upstream's: each input counts once
  Quantiles over_calls;            ///< each input counts as often as it was called
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

/// One runner of upstream's fastrnns, in milliseconds a call.
struct RunnerTimes {
  std::string group;                      ///< lstm, vl_lstm or resnet
  std::string name;                       ///< upstream's: jit_premul, resnet18_jit
  std::vector<double> forward, backward;  ///< one value a call; empty: not measured
};

/// Returns the runners among the performance results of the suite fastrnns, in the order of their names. An LSTM's time
/// is that of the eager side. The time of resnet18_jit is that of the side compiled by torchscript. Both directions are
/// of training cases, one value per call, forward with autograd recording. The last of several results of a runner
/// counts. Failed results are left out.
std::vector<RunnerTimes> runner_times(const std::vector<Result>& results);

/// avg_fwd, std_fwd, avg_bwd, std_bwd with upstream's 4 significant digits; `nan` for what was not measured.
std::array<std::string, 4> runner_cells(const RunnerTimes& runner);
/// Whether the result is of the suite that these tables show.
bool is_of_fastrnns(const Result& result);

/// Upstream's table: name, avg_fwd, std_fwd, info_fwd, avg_bwd, std_bwd, info_bwd; right-aligned in 16.
std::string fastrnns_table(const std::vector<RunnerTimes>& runners);
/// Upstream's --print-json=oss: {group: {name: average ms}}, backward in groups lstm-backward, ….
std::string fastrnns_oss(const std::vector<RunnerTimes>& runners);
/// Upstream's --print-json=pep: a line `Caffe2Observer {…}` for each measured value.
std::string fastrnns_pep(const std::vector<RunnerTimes>& runners);

/// fastrnns.txt, fastrnns.json and fastrnns_pep.txt; none without a runner.
NamedTexts write_fastrnns(const std::vector<Result>& results);

}  // namespace torchstone::tables
