#pragma once
#include <optional>
#include <string>

#include <torchstone/model_info.h>

#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {

/// The record that describes the model, written by the exporter.
inline constexpr const char* info_record = "extra/torchstone_info.json";

/// Returns the upstream model that an exporter recorded: `suite` (torchbench, timm or huggingface), and the name in
/// `source` ("timm:ghostnet_100"), else `file_name`. Empty without a suite. Throws std::invalid_argument with the place
/// for another suite.
std::optional<UpstreamModel> recorded_upstream(const JsonPlace& info, const std::string& file_name);

}  // namespace torchstone::formats::exported
