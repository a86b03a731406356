#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>

namespace torchstone::operators {

/// Calls an operator with boxed arguments. TorchScript's tracer refuses lists of booleans, such as the output masks of
/// backward operators. While a trace is recorded, this function therefore writes a call with such a list into the graph
/// itself.
void call_boxed(const c10::OperatorHandle& operation, torch::jit::Stack& stack);

/// Returns the value in the trace for an operator's argument: the recorded one for a tensor, a constant for anything
/// else.
torch::jit::Value* traced_value(torch::jit::Graph& graph, const c10::IValue& value);

}  // namespace torchstone::operators
