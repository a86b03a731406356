#pragma once
#include <string>

#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {

/// The module in whose forward a node was called, from the `nn_module_stack` of its metadata: "layers.0.conv", and
/// own_forward (models/formats/traced_place.h) for the model itself. Empty when the node has none or another form.
std::string module_path(const JsonPlace& node);

}  // namespace torchstone::formats::exported
