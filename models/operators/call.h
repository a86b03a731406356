#pragma once
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/operators/operator_log.h"

namespace torchstone::operators {

/// A logged call bound to an operator of this torch, with one value for each argument of its schema.
struct OperatorCall {
  c10::OperatorHandle operation;
  std::vector<c10::IValue> arguments;  ///< a tensor here is a placeholder for the next of `tensors`
  std::vector<TensorSpec> tensors;
};

/// Throws std::invalid_argument, with the log's file and line, when this torch has no such operator, when the arguments
/// do not fit its schema, or when a tensor is sparse.
OperatorCall bind_call(const std::string& name, const LoggedInput& input);

/// Whether an operator of this torch has a kernel for the device.
bool has_kernel(const std::string& name, torch::Device device);

/// Calls the operator through the dispatcher. Floating-point dtypes among the arguments are replaced by `dtype`,
/// devices by `device`. Returns a tensor, or a tuple when there are several results.
c10::IValue call_operator(const OperatorCall& call, const Tensors& tensors, torch::ScalarType dtype,
                          torch::Device device);

}  // namespace torchstone::operators
