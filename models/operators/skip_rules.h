#pragma once
#include <optional>
#include <string>

namespace torchstone::operators {

/// Why an operator of a log is not run; empty when it is run. The rules are upstream's (operatorbench.py) and three of
/// our own. Our own skip further operators that take indices, because random indices point outside their tensors; and,
/// because results are compared here, operators that draw random numbers and operators that return uninitialised
/// memory.
std::optional<std::string> operator_skip_reason(const std::string& name);

}  // namespace torchstone::operators
