#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <torchstone/case.h>

#include "cases/settings/yaml.h"
#include "models/operators/operator_model.h"

namespace torchstone::config {

/// A value of an axis, and its source.
template <typename T>
struct Choice {
  T value;
  Place place;
};
template <typename T>
using Choices = std::vector<Choice<T>>;

template <typename T>
bool contains(const Choices<T>& choices, const T& value) {
  return std::ranges::any_of(choices, [&](const auto& choice) { return choice.value == value; });
}

/// Axes of a row. The row's cases are their cartesian product.
struct Axes {
  Choices<std::string> checks;
  Choices<Mode> modes;
  Choices<DType> dtypes;
  Choices<BackendSpec> backends;
  Choices<std::string> devices;
  Choices<Preset> presets;
  Choices<Dynamic> dynamic;
  std::optional<Place> own_dtype{};  ///< set if the dtypes contain `own`, the dtype of the file (selection::Known)
};

// Functions that read one value in the syntax of suites and flags. They throw ConfigError.
/// Accepts registered checks only, so plug-ins must be loaded first.
std::string check_name_of(const Yaml& node);
Mode mode_of(const Yaml& node);
DType dtype_of(const Yaml& node);
/// Also accepts as_written, a dtype that cases may have but flags and suites cannot select.
DType row_dtype_of(const Yaml& node);
Preset preset_of(const Yaml& node);
Dynamic dynamic_of(const Yaml& node);
/// Accepts cpu, cuda or cuda:N.
std::string device_of(const Yaml& node);
/// Accepts `inductor`, `inductor:freezing=true`, or the map {inductor: {freezing: true}}.
BackendSpec backend_spec_of(const Yaml& node);
/// Accepts recorded or channels_last.
operators::OperatorLayout layout_of(const Yaml& node);

/// Facts about the suites that a Case lacks.
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
Use timed_cases_and_compiles();     ///< with those of the check compile_time
Use compiled_cases();               ///< cases whose check compiles, except those of eager
Use timed_cases_of_this_process();  ///< except those that torch_compile times in Python
Use accuracy_cases();
Use training_cases();
Use amp_cases();
Use dynamic_cases();
Use python_cases();
Use cases_of_ranks();
Use timed_cases_with_memory_records();
Use cases_of_free_batch();
Use operators_of_a_log();
Use recurrent_models();

/// Bounds of the key max_error, in suites and in files of expected statuses.
constexpr double lowest_max_error = 1, highest_max_error = 1'000'000;

/// One member of Case. Its key in suites, its flag with the environment twin, and its lines in --torchstone_explain,
/// --help and docs/flags.md come from this entry.
struct CaseField {
  std::string name;  ///< name of the member, and key of its origin
  std::string help;
  std::string value{};     ///< placeholder for the value: N, X, BOOL, none|sgd|adam
  std::string range{};     ///< "1 to 1000000"; empty if `value` shows it
  std::string fallback{};  ///< default in help texts: the initial value in Case, or what decides it
  std::string key{};       ///< key in suites; empty: an axis of the row or a policy decides
  std::string flag{};      ///< --torchstone_FLAG; empty: none
  bool boolean = false;    ///< the flag needs no value
  bool shown = true;       ///< --torchstone_explain shows the field
  bool path = false;       ///< the flag takes a path, relative to the working directory
  std::function<void(Case& c, const Yaml& value)> set{};       ///< throws ConfigError; empty without a key
  std::function<nlohmann::ordered_json(const Case& c)> get{};  ///< null when the case has no value
  Use use{};                                                   ///< the cases that it affects
  bool only_where_used = false;                                ///< other cases do not get the setting

  CaseField with_key(const std::string& its_key) && {
    key = its_key;
    return std::move(*this);
  }
  /// Names the flag; its default name is the key.
  CaseField with_flag(const std::string& its_flag = "") && {
    flag = its_flag.empty() ? key : its_flag;
    return std::move(*this);
  }
  /// Replaces `value`.
  CaseField in(const std::string& unit) && {
    value = unit;
    return std::move(*this);
  }
  /// Replaces `fallback`.
  CaseField decided_by(const std::string& what) && {
    fallback = what;
    return std::move(*this);
  }
  /// Refuses the flag if none of these cases is selected.
  CaseField used_by(Use cases) && {
    use = std::move(cases);
    return std::move(*this);
  }
  /// Like used_by(), but also does not apply the setting to other cases.
  CaseField only_for(Use cases) && {
    only_where_used = true;
    return std::move(*this).used_by(std::move(cases));
  }
};

/// Returns the fields in the order of Case.
const std::vector<CaseField>& case_fields();

/// Keys and unparsed values of the Case fields that a suite (its defaults, a row, a model) or a flag sets.
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
