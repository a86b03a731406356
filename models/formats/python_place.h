#pragma once
#include <string>

#include <torch/csrc/jit/ir/ir.h>
#include <torch/script.h>

namespace torchstone::formats {

/// The message of an error of TorchScript's interpreter with its cause as the first line: the operator, what it says,
/// and the line of the user's Python file ("aten::view: shape '[3, 4]' is invalid for input of size 20 (net.py:11)").
/// LibTorch's own text with both call stacks follows. What stands before that text in `message` stays in front. Any
/// other message is returned as it is.
std::string with_cause_first(const std::string& message);

/// "net.py:11": the innermost line of the user's Python, outside PyTorch, in a call stack as TorchScript writes it.
/// Empty when there is none.
std::string innermost_python_place(const std::string& stack);

/// Stands for the path of a module where that is the model itself; no module can be called so.
inline constexpr const char* own_forward = "the model itself";

/// Gives what a tracer records while it lives the place of it in the user's program: the path of the module as the
/// node's scope, and "net.py:12" as its source. Empty texts give nothing. Does nothing while no tracer records.
class TracedPlace {
 public:
  TracedPlace(std::string module, std::string source);
  ~TracedPlace();
  TracedPlace(const TracedPlace&) = delete;
  TracedPlace& operator=(const TracedPlace&) = delete;

 private:
  const std::string module_, source_;
  torch::jit::Node* last_ = nullptr;  ///< that was recorded before; nullptr without a tracer
};

/// Has what the interpreter of TorchScript does for a script while it lives, under a tracer, recorded with scope and
/// source as above. The script outlives it.
class TracedScript {
 public:
  explicit TracedScript(const torch::jit::Module& script);
  ~TracedScript();
  TracedScript(const TracedScript&) = delete;
  TracedScript& operator=(const TracedScript&) = delete;

 private:
  const torch::jit::Module* const before_;
};

/// The module in whose forward a node was called, as far as the graph knows it: its scope, or for a script the calls
/// that were inlined, by their names below `module`. Empty where it does not.
std::string module_of_node(const torch::jit::Node& node, const torch::jit::Module& module);

}  // namespace torchstone::formats
