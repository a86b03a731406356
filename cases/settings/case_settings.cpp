#include <algorithm>

#include <fmt/format.h>

#include "cases/settings/case_fields.h"
#include "cases/settings/yaml.h"
#include "fixtures/core/check_registry.h"
#include "models/core/model_registry.h"
#include "models/fastrnns/lstm_options.h"

namespace torchstone::config {
namespace {

bool is_timed(const Case& c, const UseFacts& /*facts*/) { return check_of(c).timed; }

const CaseField& field_with_key(const std::string& key, const Yaml& value) {
  const auto found = std::ranges::find(case_fields(), key, &CaseField::key);
  if (found == case_fields().end() || key.empty())
    fail(value, fmt::format("unknown key ({})", expected_one_of(key, setting_keys())));
  return *found;
}

}  // namespace

Use timed_cases() { return {"cases of performance (--torchstone_checks=performance)", is_timed}; }

Use timed_cases_of_this_process() {
  return {"cases of performance whose backend is not torch_compile, which runs in a process of Python",
          [](const Case& c, const UseFacts& facts) { return is_timed(c, facts) && c.backend.name != "torch_compile"; }};
}

Use accuracy_cases() {
  return {"cases of accuracy (--torchstone_checks=accuracy)",
          [](const Case& c, const UseFacts&) { return c.check == "accuracy"; }};
}

Use training_cases() {
  return {"cases of training (--torchstone_modes=training)",
          [](const Case& c, const UseFacts&) { return c.mode == Mode::training; }};
}

Use amp_cases() {
  return {"cases of dtype amp (--torchstone_dtypes=amp)",
          [](const Case& c, const UseFacts&) { return c.dtype == DType::amp; }};
}

Use dynamic_cases() {
  return {"cases of dynamic sizes (--torchstone_dynamic)",
          [](const Case& c, const UseFacts&) { return c.dynamic != Dynamic::off; }};
}

Use cases_of_free_batch() {
  return {"models whose batch size is not fixed", [](const Case& c, const UseFacts&) { return !c.fixed_batch; }};
}

Use operators_of_a_log() {
  return {"operators of a log",
          [](const Case& c, const UseFacts& facts) { return facts.operator_suites.contains(c.suite); }};
}

Use recurrent_models() {
  return {"recurrent models of fastrnns", [](const Case& c, const UseFacts&) {
            const ModelInfo* model = find_model(c.model);
            return model != nullptr && model->family == fastrnns::family;
          }};
}

CaseField CaseField::with_key(const std::string& its_key) && {
  key = its_key;
  return std::move(*this);
}

CaseField CaseField::with_flag(const std::string& its_flag) && {
  flag = its_flag.empty() ? key : its_flag;
  return std::move(*this);
}

CaseField CaseField::in(const std::string& unit) && {
  value = unit;
  return std::move(*this);
}

CaseField CaseField::decided_by(const std::string& what) && {
  fallback = what;
  return std::move(*this);
}

CaseField CaseField::used_by(Use cases) && {
  use = std::move(cases);
  return std::move(*this);
}

CaseField CaseField::only_for(Use cases) && {
  only_where_used = true;
  return std::move(*this).used_by(std::move(cases));
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  for (const auto& field : case_fields())
    if (!field.key.empty()) keys.push_back(field.key);
  return keys;
}

void require_setting_keys(const Yaml& map, std::vector<std::string> others) {
  for (const std::string& key : setting_keys()) others.push_back(key);
  for (const auto& [key, value] : map.entries) {
    const std::string check = key == "find_batch_size" ? "largest_batch" : key;
    if (find_check(check) && std::ranges::find(others, key) == others.end())
      fail(value, fmt::format("{} is a check, not a setting of accuracy (expected checks: [{}])", key, check));
  }
  require_keys(map, others);
}

Status status_of(const Yaml& value) {
  if (const auto status = parse_status(text_of(value))) return *status;
  std::vector<std::string> names;
  for (const auto& info : status_table()) names.emplace_back(info.name);
  fail(value, fmt::format("'{}' is not a status ({})", value.text, expected_one_of(value.text, names)));
}

void check_setting(const std::string& key, const Yaml& value) {
  Case scratch;
  field_with_key(key, value).set(scratch, value);
}

void apply_settings(const Settings& settings, Case& c) {
  for (const auto& [key, value] : settings) {
    const CaseField& field = field_with_key(key, value);
    if (field.only_where_used && !field.use.reaches(c, {})) continue;
    field.set(c, value);
    if (field.shown) c.origin[field.name] = origin_of(value);
  }
}

}  // namespace torchstone::config
