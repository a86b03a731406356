#pragma once
#include <cstddef>
#include <string>

#include <torchstone/model_info.h>

#include "models/operators/operator_log.h"

namespace torchstone::operators {

enum class OperatorLayout { recorded, channels_last };

/// Returns one call of an operator as a model without weights. Its inputs are the tensors among the arguments, in their
/// order. Its forward calls the operator through the dispatcher. The model's name is `aten.add.Tensor.3`
/// (…_channels_last), its family is the operator, and its batch size is fixed. example_inputs() reports an operator
/// that this torch lacks and an input that cannot be made.
ModelInfo operator_model_info(const std::string& name, const LoggedInput& input, size_t index, OperatorLayout layout);

}  // namespace torchstone::operators
