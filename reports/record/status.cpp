#include <algorithm>
#include <stdexcept>

#include <torchstone/status.h>

namespace torchstone {

const std::vector<StatusInfo>& status_table() {
  using enum JUnitKind;
  static const std::vector<StatusInfo> table = {
      {Status::pass, "pass", true, none, 0},
      {Status::pass_due_to_skip, "pass_due_to_skip", true, skipped, 0},
      {Status::fail_accuracy, "fail_accuracy", false, failure, 1},
      {Status::eager_two_runs_differ, "eager_two_runs_differ", false, failure, 1},
      {Status::eager_1st_run_fail, "eager_1st_run_fail", false, error, 1},
      {Status::eager_1st_run_OOM, "eager_1st_run_OOM", false, error, 4},
      {Status::eager_2nd_run_fail, "eager_2nd_run_fail", false, error, 1},
      {Status::eager_2nd_run_OOM, "eager_2nd_run_OOM", false, error, 4},
      {Status::fail_to_run, "fail_to_run", false, error, 1},
      {Status::OOM, "OOM", false, error, 4},
      {Status::model_fail_to_load, "model_fail_to_load", false, error, 1},
      {Status::eager_fail_to_run, "eager_fail_to_run", false, error, 1},
      {Status::timeout, "timeout", false, error, 4},
      {Status::crash, "crash", false, error, 4},
      {Status::vacuous, "vacuous", false, failure, 1},
      {Status::unsupported, "unsupported", true, skipped, 0},
      {Status::fail_to_capture, "fail_to_capture", false, error, 1},
      {Status::fail_to_compile, "fail_to_compile", false, error, 1},
      {Status::fail_speedup, "fail_speedup", false, failure, 1},
      {Status::undecided, "undecided", true, none, 5},
      {Status::interrupted, "interrupted", false, error, 130},
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
