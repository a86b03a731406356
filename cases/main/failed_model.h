#pragma once
#include <string>

#include "cases/flags/flags.h"

namespace torchstone {

/// Registers a model under selection::only_model() whose cases are model_fail_to_load with `error`; `note` says whose
/// fault that is: not a compiler's.
void register_failed_model(const flags::Flags& flags, const std::string& family, const std::string& error,
                           const std::string& note);

}  // namespace torchstone
