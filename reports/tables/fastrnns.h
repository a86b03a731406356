#pragma once
#include <array>
#include <string>
#include <vector>

#include <torchstone/report_writer.h>
#include <torchstone/result.h>

namespace torchstone::tables {

/// One runner of upstream's fastrnns, in milliseconds a call.
struct RunnerTimes {
  std::string group;                      ///< lstm, vl_lstm or resnet
  std::string name;                       ///< upstream's: jit_premul, resnet18_jit
  std::vector<double> forward, backward;  ///< one value a call; empty: not measured
};

/// The runners among the performance results of the suite fastrnns, in the order of their names: an LSTM's own time is
/// that of the eager side, resnet18_jit's that of the side compiled by torchscript. Both directions are of training
/// cases, one call a value, forward with autograd recording. Of several results of a runner the last counts; failed
/// ones are left out.
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
