#pragma once
#include <nlohmann/json_fwd.hpp>
#include <torchstone/result.h>

namespace torchstone {

/// NaN and infinities travel as the strings "NaN", "Infinity", "-Infinity"; text becomes valid UTF-8.
/// Reading throws std::invalid_argument with the path of the member and what was expected ("outcome.status: …").
void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);
void to_json(nlohmann::json& json, const Result& result);
void from_json(const nlohmann::json& json, Result& result);

}  // namespace torchstone
