#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/torch.h>
#include <torchstone/model.h>
#include <torchstone/model_info.h>

#include "models/operators/literal.h"
#include "models/operators/operator_log.h"
#include "models/operators/operator_model.h"

namespace torchstone::operators {

/// Converts a literal of a log to the type in an operator's schema. `length` is the `2` of `int[2]`, where one number
/// may replace a list. Tensors are appended to `tensors` and are undefined in the returned value. Throws
/// std::invalid_argument when the literal does not fit the type, or is a sparse tensor.
c10::IValue bind_literal(const Literal& literal, const c10::TypePtr& type, std::optional<int32_t> length,
                         std::vector<TensorSpec>& tensors);

/// Returns the element type of a list for the dispatcher, which takes symbolic sizes as plain integers.
c10::TypePtr plain_element(const c10::TypePtr& element);

/// Returns the dtype of a name without "torch." ("float32"). Throws std::invalid_argument for any other name.
torch::ScalarType to_scalar_type(const std::string& name);

/// Returns random values with upstream's distribution (torch.testing.make_tensor on the CPU). Real and complex numbers
/// are uniform in [-9, 9), integers range from -9 to 9 (unsigned ones from 0), and booleans have probability 1/2.
/// Floating-point tensors are float32.
torch::Tensor random_tensor(const TensorSpec& spec);

/// Calls an operator with boxed arguments. TorchScript's tracer refuses lists of booleans, such as the output masks of
/// backward operators. While a trace is recorded, this function therefore writes a call with such a list into the graph
/// itself.
void call_boxed(const c10::OperatorHandle& operation, torch::jit::Stack& stack);

/// Returns the value in the trace for an argument: the recorded one for a tensor, a constant for anything else.
torch::jit::Value* traced_value(torch::jit::Graph& graph, const c10::IValue& value);

/// A logged call bound to an operator of this torch, with one value for each argument of its schema.
struct OperatorCall {
  c10::OperatorHandle operation;
  std::vector<c10::IValue> arguments;  ///< a tensor here is a placeholder for the next of `tensors`
  std::vector<TensorSpec> tensors;
};

/// Binds a logged call. Throws std::invalid_argument with the log's file and line if this torch has no such operator,
/// the arguments do not fit its schema, or a tensor is sparse.
OperatorCall bind_call(const std::string& name, const LoggedInput& input);

/// Returns whether an operator of this torch has a kernel for the device.
bool has_kernel(const std::string& name, torch::Device device);

/// Calls the operator through the dispatcher. Floating-point dtypes among the arguments are replaced by `dtype`,
/// devices by `device`. Returns a tensor, or a tuple when there are several results.
c10::IValue call_operator(const OperatorCall& call, const Tensors& tensors, torch::ScalarType dtype,
                          torch::Device device);

/// The log's entry for such a model.
struct OperatorFacts {
  std::string name;       ///< of the operator
  std::string arguments;  ///< as in the log
  int64_t count = 0;      ///< how often the recorded program made this call
  std::string logged_at;  ///< file:line of the log
};
/// Returns the facts that operator_model_info() recorded; nullptr for any other model.
const OperatorFacts* operator_facts(const std::string& model);

}  // namespace torchstone::operators
