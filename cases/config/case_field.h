#pragma once
#include <functional>
#include <string>

#include <nlohmann/json.hpp>
#include <torchstone/case.h>

#include "cases/config/use.h"
#include "cases/config/yaml.h"

namespace torchstone::config {

/// One member of Case. Its key in suites, its flag with the environment twin, its line of --torchstone_explain, of
/// --help and of docs/flags.md come from this entry.
struct CaseField {
  std::string name;  ///< of the member, and key of its origin
  std::string help;
  std::string value{};     ///< what stands behind the key: N, X, BOOL, none|sgd|adam
  std::string range{};     ///< "1 to 1000000"; empty where `value` says it
  std::string fallback{};  ///< the default, for people; taken from a Case of defaults unless something else decides
  std::string key{};       ///< in suites; empty: an axis of the row, or a policy, decides
  std::string flag{};      ///< --torchstone_FLAG; empty: none
  bool boolean = false;    ///< the flag may stand without a value
  bool shown = true;       ///< by --torchstone_explain
  bool path = false;       ///< the flag takes a path, relative to the working directory
  std::function<void(Case& c, const Yaml& value)> set{};       ///< throws ConfigError; empty without a key
  std::function<nlohmann::ordered_json(const Case& c)> get{};  ///< null when the case has none
  Use use{};                                                   ///< the cases that it makes a difference to
  bool only_where_used = false;                                ///< other cases do not get the setting

  CaseField with_key(const std::string& its_key) &&;
  CaseField with_flag(const std::string& its_flag = "") &&;  ///< of the key's name unless another is given
  CaseField in(const std::string& unit) &&;                  ///< replaces `value`
  CaseField decided_by(const std::string& what) &&;          ///< replaces `fallback`
  CaseField used_by(Use cases) &&;                           ///< refuses the flag where no such case is selected
  CaseField only_for(Use cases) &&;                          ///< also keeps the setting from other cases
};

/// In the order of Case.
const std::vector<CaseField>& case_fields();

}  // namespace torchstone::config
