#pragma once
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <torchstone/case.h>

#include "cases/settings/yaml.h"

namespace torchstone::config {

/// Facts about the suites that a Case does not hold.
struct UseFacts {
  std::set<std::string> operator_suites{};  ///< suites whose models are operators of a log
};

/// The cases that a flag or a setting affects.
struct Use {
  std::string what{};  ///< for messages: "cases of performance (--torchstone_checks=performance)"
  /// Empty: all cases.
  std::function<bool(const Case& c, const UseFacts& facts)> reaches{};
};

// Uses that several flags share.
Use timed_cases();
Use timed_cases_of_this_process();  ///< without those that torch_compile times in Python
Use accuracy_cases();
Use training_cases();
Use amp_cases();
Use dynamic_cases();
Use cases_of_free_batch();
Use operators_of_a_log();
Use recurrent_models();

/// One member of Case. Its key in suites, its flag with the environment twin, and its lines in --torchstone_explain,
/// --help and docs/flags.md come from this entry.
struct CaseField {
  std::string name;  ///< of the member, and key of its origin
  std::string help;
  std::string value{};     ///< placeholder for the value: N, X, BOOL, none|sgd|adam
  std::string range{};     ///< "1 to 1000000"; empty where `value` says it
  std::string fallback{};  ///< default, for people: the value in Case unless something else decides
  std::string key{};       ///< in suites; empty: an axis of the row or a policy decides
  std::string flag{};      ///< --torchstone_FLAG; empty: none
  bool boolean = false;    ///< the flag needs no value
  bool shown = true;       ///< by --torchstone_explain
  bool path = false;       ///< the flag takes a path, relative to the working directory
  std::function<void(Case& c, const Yaml& value)> set{};       ///< throws ConfigError; empty without a key
  std::function<nlohmann::ordered_json(const Case& c)> get{};  ///< null when the case has no value
  Use use{};                                                   ///< the cases that it affects
  bool only_where_used = false;                                ///< other cases do not get the setting

  CaseField with_key(const std::string& its_key) &&;
  /// Names the flag; its default name is the key.
  CaseField with_flag(const std::string& its_flag = "") &&;
  CaseField in(const std::string& unit) &&;          ///< replaces `value`
  CaseField decided_by(const std::string& what) &&;  ///< replaces `fallback`
  CaseField used_by(Use cases) &&;                   ///< refuses the flag where no such case is selected
  CaseField only_for(Use cases) &&;                  ///< also keeps the setting from other cases
};

/// Returns the fields in the order of Case.
const std::vector<CaseField>& case_fields();

/// Fields of a Case that a suite (its defaults, a row, a model) or a flag sets, by their keys, as written.
using Settings = std::vector<std::pair<std::string, Yaml>>;

/// Throws ConfigError for a key of the map that is neither a setting nor one of `others`.
void require_setting_keys(const Yaml& map, std::vector<std::string> others);
/// Returns the keys of case_fields().
std::vector<std::string> setting_keys();
/// Reads a status; throws ConfigError.
Status status_of(const Yaml& value);
/// Checks a value without using it; throws ConfigError.
void check_setting(const std::string& key, const Yaml& value);
/// Sets fields that apply to the case, and their origins.
void apply_settings(const Settings& settings, Case& c);

}  // namespace torchstone::config
