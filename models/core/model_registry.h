#pragma once
#include <cstdint>
#include <vector>

#include <torchstone/model_info.h>

namespace torchstone {

/// All models, sorted by name.
std::vector<const ModelInfo*> all_models();

/// Returns the number of elements of all parameters. A parameter with several names counts once.
int64_t count_parameters(const Model& model);

}  // namespace torchstone
