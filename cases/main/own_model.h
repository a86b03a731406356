#pragma once
#include <cstdint>
#include <optional>

#include <torchstone/model_info.h>

#include "cases/flags/flags.h"
#include "cases/selection/known.h"

namespace torchstone {

/// Registers the file of --torchstone_only under selection::only_model(). An exported program that is refused becomes a
/// model that cannot be loaded; throws when any other file or its inputs cannot be used. Returns the dtype that the
/// file is judged in; none where it has no floating-point numbers.
std::optional<selection::OwnDtype> register_own_model(const flags::Flags& flags);

/// Number of parameters of a model's mini preset: makes it.
int64_t mini_parameters(const ModelInfo& info);

}  // namespace torchstone
