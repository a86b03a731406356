#pragma once
#include <vector>

#include "cases/flags/flags.h"
#include "cases/suite/suite.h"

namespace torchstone::suite {

/// What the suites with flags of their own do before cases are made: fastrnns gets its sizes and TorchScript's
/// executor, operators its models from logs. Throws ConfigError.
void prepare_models(std::vector<Suite>& suites, const flags::Flags& flags);

}  // namespace torchstone::suite
