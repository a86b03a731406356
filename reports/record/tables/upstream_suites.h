#pragma once
#include <array>
#include <string>
#include <vector>

#include <torchstone/report_writer.h>
#include <torchstone/result.h>

namespace torchstone::tables {

struct Quantiles {
  double low = 0, median = 0, high = 0;  ///< quantiles 0.2, 0.5 and 0.8; NaN without values
};

/// Speed-ups of one operator with one backend, over its inputs.
struct OperatorSpeedup {
  std::string suite, dtype, name;  ///< name: aten.add.Tensor
  std::string backend;             ///< with its machine if results come from several
  size_t inputs = 0;               ///< inputs with a measured speed-up and a right answer
  size_t failed = 0;               ///< inputs that ran without such a result
  double calls = 0;       ///< calls of the measured inputs in the logged programs; an input without calls counts 1
  Quantiles over_inputs;  ///< upstream's: each input counts once
  Quantiles over_calls;   ///< each input counts as often as it was called
};

/// Whether the result belongs in these tables: its case is one call of an operator.
bool is_of_an_operator(const Result& result);

/// Returns one entry for each suite, dtype, operator and backend among the performance results of operators, sorted in
/// this order. Of several results with the same name, the last counts.
std::vector<OperatorSpeedup> operator_speedups(const std::vector<Result>& results);

/// Returns operatorbench_SUITE_DTYPE.csv as upstream's operatorbench.py writes it: Operator, then `BACKEND 20th`,
/// `50th` and `80th` of each backend, with 6 decimals. A cell is empty if nothing was measured. Returns no file without
/// operators.
NamedTexts write_operatorbench_csvs(const std::vector<Result>& results);

/// Returns upstream's lines, `  aten.add.Tensor: inductor=1.23x (0.98-1.31)`, under a heading with the dtype. Empty
/// without operators.
std::vector<std::string> operatorbench_lines(const std::vector<Result>& results);

/// One runner of upstream's fastrnns. Times are milliseconds per call.
struct RunnerTimes {
  std::string group;                      ///< lstm, vl_lstm or resnet
  std::string name;                       ///< upstream's: jit_premul, resnet18_jit
  std::vector<double> forward, backward;  ///< one value per call; empty: not measured
};

/// Returns the runners among the performance results of the suite fastrnns, in the order of their names. An LSTM's time
/// is that of the eager side. The time of resnet18_jit is that of the side compiled by torchscript. Both directions
/// come from training cases, so forward includes autograd's recording. Of several results of a runner, the last counts.
/// Failed results are left out.
std::vector<RunnerTimes> runner_times(const std::vector<Result>& results);

/// Returns avg_fwd, std_fwd, avg_bwd and std_bwd with upstream's 4 significant digits; `nan` if not measured.
std::array<std::string, 4> runner_cells(const RunnerTimes& runner);
/// Whether the result belongs to the suite fastrnns.
bool is_of_fastrnns(const Result& result);

/// Returns upstream's table: name, avg_fwd, std_fwd, info_fwd, avg_bwd, std_bwd, info_bwd; each right-aligned in 16
/// columns.
std::string fastrnns_table(const std::vector<RunnerTimes>& runners);
/// Returns the output of upstream's --print-json=oss: {group: {name: average ms}}, backward in groups lstm-backward, ….
std::string fastrnns_oss(const std::vector<RunnerTimes>& runners);
/// Returns the output of upstream's --print-json=pep: a line `Caffe2Observer {…}` for each measured value.
std::string fastrnns_pep(const std::vector<RunnerTimes>& runners);

/// Returns fastrnns.txt, fastrnns.json and fastrnns_pep.txt; no file without a runner.
NamedTexts write_fastrnns(const std::vector<Result>& results);

}  // namespace torchstone::tables
