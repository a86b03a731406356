#pragma once
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/operators/literal.h"

namespace torchstone::operators {

/// What one operator was called with, and how often.
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
/// `Operator: aten.NAME.OVERLOAD`, then a line `cnt: N, ((positional…), {named…})` for each input. Equal lines of an
/// operator add their counts, and aten.sum.SymInt is read as aten.sum.dim_IntList, as upstream does. `file` is named in
/// errors. Throws LogError, also for a text without any operator.
std::vector<LoggedOperator> parse_operator_log(const std::string& text, const std::string& file);
/// The same for a file.
std::vector<LoggedOperator> read_operator_log(const std::string& file);

/// Adds `other` to `log`: an operator appears once, counts of equal inputs add.
void merge_logs(std::vector<LoggedOperator>& log, const std::vector<LoggedOperator>& other);

/// The text that parse_operator_log reads, operators sorted by name.
std::string write_operator_log(std::vector<LoggedOperator> log);

/// Why an operator of a log is not run; empty when it is run. The rules are upstream's (operatorbench.py) and three of
/// our own. Our own skip further operators that take indices, because random indices point outside their tensors; and,
/// because results are compared here, operators that draw random numbers and operators that return uninitialised
/// memory.
std::optional<std::string> operator_skip_reason(const std::string& name);

}  // namespace torchstone::operators
