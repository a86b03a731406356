#pragma once
#include <string>

#include <torch/csrc/jit/ir/ir.h>
#include <torch/script.h>

namespace torchstone::formats {

/// Rewrites an error message of TorchScript's interpreter so that its first line is the cause: the operator, its
/// message, and the line in the user's Python ("aten::view: shape '[3, 4]' is invalid for input of size 20
/// (net.py:11)"). LibTorch's text with both call stacks follows. Text of `message` before LibTorch's is kept. Any other
/// message is returned unchanged.
std::string with_cause_first(const std::string& message);

/// Returns "net.py:11", the innermost line of the user's Python, outside PyTorch, in a call stack of TorchScript. Empty
/// without such a line.
std::string innermost_python_place(const std::string& stack);

/// Path of the model itself. No submodule can have this name.
inline constexpr const char* own_forward = "the model itself";

/// Annotates the nodes that a tracer records during its lifetime with their place in the user's program. A node's scope
/// becomes the path of the module, its source "net.py:12". Empty texts set nothing. Has no effect without a tracer.
class TracedPlace {
 public:
  TracedPlace(std::string module, std::string source);
  ~TracedPlace();
  TracedPlace(const TracedPlace&) = delete;
  TracedPlace& operator=(const TracedPlace&) = delete;

 private:
  const std::string module_, source_;
  torch::jit::Node* last_ = nullptr;  ///< the node recorded before; nullptr without a tracer
};

/// Makes a tracer record scope and source of the nodes that TorchScript's interpreter executes for a script during its
/// lifetime. The script must outlive this object.
class TracedScript {
 public:
  explicit TracedScript(const torch::jit::Module& script);
  ~TracedScript();
  TracedScript(const TracedScript&) = delete;
  TracedScript& operator=(const TracedScript&) = delete;

 private:
  const torch::jit::Module* const before_;
};

/// Returns the module whose forward called a node: the node's scope, or for a script the path of the inlined calls
/// below `module`. Empty if the graph does not record it.
std::string module_of_node(const torch::jit::Node& node, const torch::jit::Module& module);

}  // namespace torchstone::formats
