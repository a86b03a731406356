#pragma once
#include <cstdint>
#include <string>

#include <torchstone/model_info.h>

#include "models/operators/operator_log.h"

namespace torchstone::operators {

enum class OperatorLayout { recorded, channels_last };

/// One call of an operator as a model without weights. Its inputs are the tensors among the arguments, in their order;
/// its forward calls the operator through the dispatcher. The model's name is `aten.add.Tensor.3` (…_channels_last),
/// its family is the operator, and its batch size is fixed.
/// An operator that this torch lacks and an input that cannot be made are reported by example_inputs().
ModelInfo operator_model_info(const std::string& name, const LoggedInput& input, size_t index, OperatorLayout layout);

/// What the log says about such a model.
struct OperatorFacts {
  std::string name;       ///< of the operator
  std::string arguments;  ///< as in the log
  int64_t count = 0;      ///< how often the recorded program made this call
  std::string origin;     ///< file:line
};
/// The facts that operator_model_info() recorded; nullptr for any other model.
const OperatorFacts* operator_facts(const std::string& model);

}  // namespace torchstone::operators
