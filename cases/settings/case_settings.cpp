#include <algorithm>
#include <regex>

#include <fmt/format.h>

#include "cases/settings/case_fields.h"
#include "cases/settings/yaml.h"
#include "fixtures/core/case.h"
#include "fixtures/core/check_registry.h"
#include "models/core/model_registry.h"
#include "models/fastrnns/lstm_options.h"

namespace torchstone::config {
namespace {

bool is_timed(const Case& c, const UseFacts& /*facts*/) { return times_calls(c); }

const CaseField& field_with_key(const std::string& key, const Yaml& value) {
  const auto found = std::ranges::find(case_fields(), key, &CaseField::key);
  if (found == case_fields().end() || key.empty())
    fail(value, fmt::format("unknown key ({})", expected_one_of(key, setting_keys())));
  return *found;
}

}  // namespace

std::string check_name_of(const Yaml& node) {
  Words<std::string> words;
  for (const auto& name : check_names()) words.emplace_back(name, name);
  return word_of(node, words, "check");
}

Mode mode_of(const Yaml& node) {
  return word_of(node, words_for(std::vector{Mode::inference, Mode::training}), "mode");
}

DType dtype_of(const Yaml& node) {
  return word_of(node,
                 words_for(std::vector{DType::float32, DType::bfloat16, DType::float16, DType::amp, DType::float64}),
                 "dtype");
}

DType row_dtype_of(const Yaml& node) {
  if (node.kind == Yaml::Kind::scalar && node.text == to_string(DType::as_written)) return DType::as_written;
  return dtype_of(node);
}

Preset preset_of(const Yaml& node) {
  return word_of(node, words_for(std::vector{Preset::mini, Preset::full}), "preset");
}

Dynamic dynamic_of(const Yaml& node) {
  // YAML 1.1 reads a bare `off` as false; here it stays a string.
  return word_of(node, words_for(std::vector{Dynamic::off, Dynamic::batch, Dynamic::all}), "choice of dynamic sizes");
}

std::string device_of(const Yaml& node) {
  static const std::regex pattern("(cpu|cuda(:[0-9]{1,3})?)");
  std::string text = text_of(node);
  if (text.size() > 20 || !std::regex_match(text, pattern))
    fail(node, fmt::format("'{}' is not a supported device (expected cpu, cuda or cuda:N)", text.substr(0, 20)));
  return text;
}

BackendSpec backend_spec_of(const Yaml& node) {
  if (node.kind != Yaml::Kind::map) {
    try {
      return parse_backend(text_of(node));
    } catch (const std::invalid_argument& error) {
      fail(node, error.what());
    }
  }
  if (node.entries.size() != 1)
    fail(node, fmt::format("{} backends in one map (expected name: {{option: value}})", node.entries.size()));
  const auto& [name, options] = node.entries.front();
  if (name.empty()) fail(node, "a backend without a name (expected name: {option: value})");
  BackendSpec backend{name, {}};
  if (options.kind == Yaml::Kind::null) return backend;
  require_map(options);
  for (const auto& [option, value] : options.entries) backend.options[option] = text_of(value);
  return backend;
}

operators::OperatorLayout layout_of(const Yaml& node) {
  using operators::OperatorLayout;
  static const Words<OperatorLayout> layouts{{"recorded", OperatorLayout::recorded},
                                             {"channels_last", OperatorLayout::channels_last}};
  return word_of(node, layouts, "layout");
}

Use timed_cases() { return {"cases of performance (--torchstone_checks=performance)", is_timed}; }

Use timed_cases_and_compiles() {
  return {"cases of performance and compile_time (--torchstone_checks=performance)",
          [](const Case& c, const UseFacts&) { return check_info(c).timed; }};
}

Use compiled_cases() {
  return {"cases that are compiled (their backend is not eager)", [](const Case& c, const UseFacts&) {
            const CheckInfo* check = find_check(c.check);
            return check != nullptr && check->compiles && c.backend.name != "eager";
          }};
}

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

Use python_cases() {
  return {"Python modules (--torchstone_only=path:FILE.py,class:NAME)",
          [](const Case& c, const UseFacts&) { return is_python(c); }};
}

Use cases_of_ranks() {
  return {"cases of several ranks (--torchstone_world)", [](const Case& c, const UseFacts&) { return c.world > 1; }};
}

Use timed_cases_with_memory_records() {
  return {"cases of performance whose backend is not torch_compile, and Python modules on CUDA in performance",
          [of_this_process = timed_cases_of_this_process()](const Case& c, const UseFacts& facts) {
            const bool is_python_on_cuda = is_python(c) && c.device.starts_with("cuda");
            return is_python_on_cuda ? is_timed(c, facts) : of_this_process.reaches(c, facts);
          }};
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
  const auto names = texts_of(status_table(), &StatusInfo::name);
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
