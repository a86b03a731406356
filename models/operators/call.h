#pragma once
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/operators/operator_log.h"

namespace torchstone::operators {

/// A logged call that can be made: an operator of this torch and one value for each argument of its schema.
struct OperatorCall {
  c10::OperatorHandle operation;
  std::vector<c10::IValue> arguments;  ///< tensors stand for their shapes only: `tensors` replaces them, in this order
  std::vector<TensorSpec> tensors;
};

/// Throws std::invalid_argument, with the log's file and line, when this torch has no such operator, when the arguments
/// do not fit its schema, or when a tensor is sparse.
OperatorCall bind_call(const std::string& name, const LoggedInput& input);

/// False for an operator of this torch that nobody has written for the device.
bool has_kernel(const std::string& name, torch::Device device);

/// Calls the operator through the dispatcher. Floating-point dtypes among the arguments become `dtype`, devices
/// `device`. A tensor, or a tuple when there are several results.
c10::IValue call_operator(const OperatorCall& call, const Tensors& tensors, torch::ScalarType dtype,
                          torch::Device device);

}  // namespace torchstone::operators
