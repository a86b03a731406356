#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/operators/literal.h"

namespace torchstone::operators {

/// Arguments of an operator, and how often it was called with them.
struct LoggedInput {
  int64_t count = 0;
  Literal positional;  ///< a tuple
  Literal named;       ///< a dict
  std::string file{};  ///< where it was read
  int line = 0;
};

/// One operator of a log: `aten.add.Tensor`.
struct LoggedOperator {
  std::string name;
  std::vector<LoggedInput> inputs;
};

/// what() reads `file:line:column: what (expected …)`.
struct LogError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads a log of operator inputs (pytorch, benchmarks/dynamo/microbenchmarks/operator_inp_logs): a line
/// `Operator: aten.NAME.OVERLOAD`, then a line `cnt: N, ((positional…), {named…})` for each input. The counts of
/// equal lines of an operator are added, and aten.sum.SymInt is read as aten.sum.dim_IntList, as upstream does. `file`
/// is named in errors. Throws LogError, also for a text without any operator.
std::vector<LoggedOperator> parse_operator_log(const std::string& text, const std::string& file);
/// Reads the log in a file, as parse_operator_log() does.
std::vector<LoggedOperator> read_operator_log(const std::string& file);

/// Adds `other` to `log`. An operator appears once, and the counts of equal inputs are added.
void merge_logs(std::vector<LoggedOperator>& log, const std::vector<LoggedOperator>& other);

/// Returns the text that parse_operator_log() reads, with operators sorted by name.
std::string write_operator_log(std::vector<LoggedOperator> log);

/// Returns why an operator of a log is skipped, or nothing when it runs. The rules are upstream's (operatorbench.py)
/// and three of our own. Two exist because results are compared here: they skip operators that generate random numbers
/// and operators that return uninitialised memory. The third skips further operators that take indices, because random
/// indices point outside their tensors.
std::optional<std::string> operator_skip_reason(const std::string& name);

}  // namespace torchstone::operators
