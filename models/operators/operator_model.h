#pragma once
#include <cstdint>
#include <string>

#include <torchstone/model_info.h>

#include "models/operators/operator_log.h"

namespace torchstone::operators {

enum class OperatorLayout { recorded, channels_last };

/// One call of an operator as a model without weights: its inputs are the tensors among the arguments, in their order;
/// its forward calls the operator through the dispatcher. An operator that this torch has not, and an input that cannot
/// be made, show when the inputs are asked for. The name is `aten.add.Tensor.3` (…_channels_last), the family the
/// operator, the batch size fixed.
ModelInfo operator_model_info(const std::string& name, const LoggedInput& input, size_t index, OperatorLayout layout);

/// What the log says about such a model.
struct OperatorFacts {
  std::string name;       ///< of the operator
  std::string arguments;  ///< as in the log
  int64_t count = 0;      ///< how often the recorded program made this call
  std::string origin;     ///< file:line
};
/// nullptr for a model that is no operator. Filled by operator_model_info.
const OperatorFacts* operator_facts(const std::string& model);

}  // namespace torchstone::operators
