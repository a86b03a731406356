#pragma once
#include <string>
#include <utility>
#include <vector>

#include <torchstone/case.h>

#include "cases/config/yaml.h"

namespace torchstone::config {

/// Fields of a Case that a suite (its defaults, a row, a model) or a flag sets, by their keys, as written.
using Settings = std::vector<std::pair<std::string, Yaml>>;

/// Throws ConfigError for a key of the map that is neither a setting nor one of `others`.
void require_setting_keys(const Yaml& map, std::vector<std::string> others);

/// The keys of case_fields().
std::vector<std::string> setting_keys();

/// A word of the status table; throws ConfigError.
Status status_of(const Yaml& value);
/// Checks one value without using it; throws ConfigError.
void check_setting(const std::string& key, const Yaml& value);
/// Sets the fields and their origins, where the field applies to the case.
void apply_settings(const Settings& settings, Case& c);

}  // namespace torchstone::config
