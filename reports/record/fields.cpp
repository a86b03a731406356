#include "reports/record/fields.h"

#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone {

const std::vector<TextField>& text_fields() {
  static const std::vector<TextField> fields = {
      {"name", "case", &Result::name},
      {"suite", "suite", &Result::suite},
      {"model", "model", &Result::model},
      {"check", "check", &Result::check},
      {"mode", "mode", &Result::mode},
      {"dtype", "dtype", &Result::dtype},
      {"device", "device", &Result::device},
      {"backend", "backend", &Result::backend},
      {"preset", "preset", &Result::preset},
      {"dynamic", "dynamic", &Result::dynamic},
      {"expected", "expected", &Result::expected},
      {"reproduce", "reproduce", &Result::reproduce},
      {"file", "declared_file", &Result::file},
      {"recorded", "recorded", &Result::recorded},
  };
  return fields;
}

namespace {

[[noreturn]] void refuse(const std::string& path, std::string_view expected, const nlohmann::json& found) {
  // Arrays and objects by name only: writing out a deeply nested one would exhaust the stack.
  const std::string text = found.is_structured() ? found.type_name() : found.is_null() ? "nothing" : found.dump();
  throw std::invalid_argument(fmt::format("{}: expected {}, found {}", path, expected, shortened(text, 60)));
}

}  // namespace

nlohmann::json number_to_json(double value) {
  if (value - value == 0) return value;  // finite
  return exact(value);
}

double number_of(const nlohmann::json& json, const std::string& path) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text == "NaN" || text == "Infinity" || text == "-Infinity") return *parse_number(text);
  }
  refuse(path, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"", json);
}

int64_t integer_of(const nlohmann::json& json, const std::string& path) {
  const bool too_large =
      json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (!json.is_number_integer() || too_large) refuse(path, "an integer", json);
  return json.get<int64_t>();
}

std::string text_of(const nlohmann::json& json, const std::string& path) {
  if (!json.is_string()) refuse(path, "a string", json);
  return json.get<std::string>();
}

const nlohmann::json& member_of(const nlohmann::json& json, const std::string& key, const std::string& path) {
  static const nlohmann::json absent;
  const auto found = object_of(json, path).find(key);
  return found == json.end() ? absent : *found;
}

const nlohmann::json& object_of(const nlohmann::json& json, const std::string& path) {
  if (!json.is_object()) refuse(path, "an object", json);
  return json;
}

std::vector<double> numbers_of(const nlohmann::json& json, const std::string& path) {
  if (!json.is_array()) refuse(path, "an array of numbers", json);
  std::vector<double> numbers;
  numbers.reserve(json.size());
  for (const auto& item : json) numbers.push_back(number_of(item, fmt::format("{}[{}]", path, numbers.size())));
  return numbers;
}

std::map<std::string, std::string> text_map_of(const nlohmann::json& json, const std::string& path) {
  std::map<std::string, std::string> map;
  if (json.is_null()) return map;
  for (const auto& [key, value] : object_of(json, path).items()) map[key] = text_of(value, path + "." + key);
  return map;
}

nlohmann::json text_map_to_json(const std::map<std::string, std::string>& map) {
  auto json = nlohmann::json::object();
  for (const auto& [key, value] : map) json[valid_utf8(key)] = valid_utf8(value);
  return json;
}

}  // namespace torchstone
