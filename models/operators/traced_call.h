#pragma once
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>

namespace torchstone::operators {

/// Calls an operator with boxed arguments. TorchScript's tracer refuses lists of booleans (the output masks of backward
/// operators), so a call with one is written into the graph here when a tracer listens.
void call_boxed(const c10::OperatorHandle& operation, torch::jit::Stack& stack);

}  // namespace torchstone::operators
