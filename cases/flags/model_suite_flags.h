#pragma once
#include <optional>
#include <string>
#include <vector>

#include "models/fastrnns/executor.h"
#include "models/fastrnns/sizes.h"
#include "models/operators/operator_model.h"

namespace torchstone::flags {

/// What replaces the values of a suite's key `operators` (cases/suite/operators.h).
struct OperatorFlags {
  std::vector<std::string> logs;
  std::vector<operators::OperatorLayout> layouts;
  std::optional<int> max_samples, start_index;
};

/// Sizes of the recurrent models of the suite fastrnns, and what runs TorchScript.
struct FastrnnsFlags {
  fastrnns::RecurrentFlags sizes;
  fastrnns::Fuser fuser = fastrnns::Fuser::untouched;
  fastrnns::Executor executor = fastrnns::Executor::untouched;
};

}  // namespace torchstone::flags
