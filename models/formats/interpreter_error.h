#pragma once
#include <string>

namespace torchstone::formats {

/// The message of an error of TorchScript's interpreter with its cause as the first line: the operator, what it says,
/// and the line of the user's Python file ("aten::view: shape '[3, 4]' is invalid for input of size 20 (net.py:11)").
/// LibTorch's own text with both call stacks follows. What stands before that text in `message` stays in front. Any
/// other message is returned as it is.
std::string with_cause_first(const std::string& message);

/// "net.py:11": the innermost line of the user's Python, outside PyTorch, in a call stack as TorchScript writes it.
/// Empty when there is none.
std::string innermost_python_place(const std::string& stack);

}  // namespace torchstone::formats
