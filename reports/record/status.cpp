#include <algorithm>
#include <stdexcept>

#include <torchstone/status.h>

#include "reports/base/process.h"

namespace torchstone {

const std::vector<StatusInfo>& status_table() {
  using enum JUnitKind;
  static const std::vector<StatusInfo> table = {
      {Status::pass, "pass", true, none, ExitCode::success},
      {Status::pass_due_to_skip, "pass_due_to_skip", true, skipped, ExitCode::success},
      {Status::fail_accuracy, "fail_accuracy", false, failure, ExitCode::gate_failed},
      {Status::not_bitwise_equivalent, "not_bitwise_equivalent", false, failure, ExitCode::gate_failed},
      {Status::eager_two_runs_differ, "eager_two_runs_differ", false, failure, ExitCode::gate_failed},
      {Status::eager_1st_run_fail, "eager_1st_run_fail", false, error, ExitCode::gate_failed},
      {Status::eager_1st_run_OOM, "eager_1st_run_OOM", false, error, ExitCode::infrastructure},
      {Status::eager_2nd_run_fail, "eager_2nd_run_fail", false, error, ExitCode::gate_failed},
      {Status::eager_2nd_run_OOM, "eager_2nd_run_OOM", false, error, ExitCode::infrastructure},
      {Status::fail_to_run, "fail_to_run", false, error, ExitCode::gate_failed},
      {Status::OOM, "OOM", false, error, ExitCode::infrastructure},
      {Status::model_fail_to_load, "model_fail_to_load", false, error, ExitCode::gate_failed},
      {Status::eager_fail_to_run, "eager_fail_to_run", false, error, ExitCode::gate_failed},
      {Status::timeout, "timeout", false, error, ExitCode::infrastructure},
      {Status::crash, "crash", false, error, ExitCode::infrastructure},
      {Status::vacuous, "vacuous", false, failure, ExitCode::gate_failed},
      {Status::undelegated, "undelegated", false, failure, ExitCode::gate_failed},
      {Status::unsupported, "unsupported", true, skipped, ExitCode::success},
      {Status::fail_to_capture, "fail_to_capture", false, error, ExitCode::gate_failed},
      {Status::fail_to_compile, "fail_to_compile", false, error, ExitCode::gate_failed},
      {Status::fail_speedup, "fail_speedup", false, failure, ExitCode::gate_failed},
      {Status::undecided, "undecided", true, none, ExitCode::undecided},
      {Status::interrupted, "interrupted", false, error, ExitCode::interrupted},
  };
  return table;
}

const StatusInfo& info_of(Status status) {
  const auto& table = status_table();
  const auto found = std::ranges::find(table, status, &StatusInfo::status);
  if (found == table.end()) throw std::logic_error("a status without a row in the status table");
  return *found;
}

std::string_view to_string(Status status) { return info_of(status).name; }

std::optional<Status> parse_status(std::string_view name) {
  const auto& table = status_table();
  const auto found = std::ranges::find(table, name, &StatusInfo::name);
  if (found == table.end()) return std::nullopt;
  return found->status;
}

}  // namespace torchstone
