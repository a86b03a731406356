#pragma once
#include <string>
#include <utility>
#include <vector>

#include <torchstone/case.h>

#include "cases/config/yaml.h"


namespace torchstone::config {

/// Fields of a Case that a suite (its defaults, a row, a model) or a flag may set, as written.
using Settings = std::vector<std::pair<std::string, Yaml>>;

/// One such field.
struct SettingInfo {
  std::string key;                          ///< in YAML; the flag of the same name is --torchstone_KEY
  std::string field;                        ///< of Case, and key of its origin; empty: it is only a remark there
  std::string meaning;                      ///< with unit and range
  void (*set)(Case& c, const Yaml& value);  ///< throws ConfigError
};
const std::vector<SettingInfo>& setting_table();
std::vector<std::string> setting_keys();

/// A word of the status table; throws ConfigError.
Status status_of(const Yaml& value);
/// Checks one value without using it; throws ConfigError.
void check_setting(const std::string& key, const Yaml& value);
/// Sets the fields and their origins. required_speedup is kept from cases that measure no speed.
void apply_settings(const Settings& settings, Case& c);

}  // namespace torchstone::config
