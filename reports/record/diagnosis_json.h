#pragma once
#include <string>

#include <nlohmann/json.hpp>
#include <torchstone/diagnosis.h>

namespace torchstone {

/// The members are those of diagnosis.json (docs/diagnosis.md), with `files` and `faults`; what is not known is absent.
/// Numbers that are not finite travel as in the rest of results.json.
void to_json(nlohmann::json& json, const Diagnosis& diagnosis);

/// Takes the form of to_json() and that of diagnosis.json. A member that is absent is empty, one that is not known is
/// passed over. Throws std::invalid_argument "PATH.part[2].value: expected …, found …".
Diagnosis diagnosis_of(const nlohmann::json& json, const std::string& path);

}  // namespace torchstone
