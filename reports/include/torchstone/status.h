#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace torchstone {

/// All outcomes of a case. Upstream's statuses come first (benchmarks/dynamo/common.py), then Torchstone's own.
enum class Status {
  pass,
  pass_due_to_skip,
  fail_accuracy,
  not_bitwise_equivalent,
  eager_two_runs_differ,
  eager_1st_run_fail,
  eager_1st_run_OOM,
  eager_2nd_run_fail,
  eager_2nd_run_OOM,
  fail_to_run,
  OOM,
  model_fail_to_load,
  eager_fail_to_run,
  timeout,
  crash,
  uninformative,
  not_compiled,
  unsupported,
  fail_to_capture,
  fail_to_compile,
  fail_speedup,
  fail_graph_breaks,
  fail_recompiles,
  fail_compile_time,
  fail_memory,
  undecided,
  interrupted,
};

/// How reports count a status.
enum class StatusKind {
  passed,   ///< judged, and no gate is red; also undecided
  skipped,  ///< not run: skipped, or not supported here
  failed,   ///< judged, and a gate is red
  error,    ///< the case ended before it was judged
};

/// One row of the status table, which alone defines how statuses are shown and counted.
struct StatusInfo {
  Status status;
  std::string_view name;  ///< upstream's string
  bool passing;           ///< counts as passed
  StatusKind kind;
  int exit_code;  ///< exit code of a run whose worst status it is: 0 met, 1 gate, 4 infrastructure, 5 undecided, 130
                  ///< interrupted
};

const std::vector<StatusInfo>& status_table();
const StatusInfo& info_of(Status status);
std::string_view to_string(Status status);
std::optional<Status> parse_status(std::string_view name);

}  // namespace torchstone
