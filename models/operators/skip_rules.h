#pragma once
#include <optional>
#include <string>

namespace torchstone::operators {

/// Why an operator of a log is not run; empty when it is. Upstream's rules (operatorbench.py), and three of ours:
/// further operators that write or read where random indices point (that is outside of their tensors), and, because
/// here answers are judged, operators that draw random numbers and those that return memory as they found it.
std::optional<std::string> operator_skip_reason(const std::string& name);

}  // namespace torchstone::operators
