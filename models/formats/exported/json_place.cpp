#include "models/formats/exported/json_place.h"

#include <limits>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

namespace torchstone::formats::exported {
namespace {

constexpr int deepest = 200;
constexpr size_t most_values = 20'000'000;

/// Appends a key: "models/model.json" → "models/model.json: graph" → "models/model.json: graph.nodes".
std::string below(const std::string& place, const std::string& key) {
  return fmt::format("{}{}{}", place, place.ends_with(".json") ? ": " : ".", key.substr(0, 200));
}

}  // namespace

nlohmann::json parse_json(const std::string& text, const std::string& record) {
  size_t values = 0;
  const auto check = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (depth > deepest) throw std::invalid_argument(fmt::format("{}: nested deeper than {} levels", record, deepest));
    if (++values > most_values)
      throw std::invalid_argument(fmt::format("{}: more than {} values (expected at most that many)", record, values));
    return event != nlohmann::json::parse_event_t::key || value.get_ref<const std::string&>() != "from_node";
  };
  try {
    return nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::exception& error) {
    throw std::invalid_argument(fmt::format("{}: not JSON: {}", record, error.what()));
  }
}

void JsonPlace::fail(const std::string& text) const {
  throw std::invalid_argument(fmt::format("{}: {}", place_, text));
}

void JsonPlace::expected(const char* what) const { fail(fmt::format("{}, expected {}", value_->type_name(), what)); }

bool JsonPlace::has(const std::string& key) const {
  if (!value_->is_object()) return false;
  const auto found = value_->find(key);
  return found != value_->end() && !found->is_null();
}

JsonPlace JsonPlace::at(const std::string& key) const {
  if (!value_->is_object()) expected("an object");
  const auto found = value_->find(key);
  if (found == value_->end()) fail(fmt::format("expected a key {}", key));
  return {*found, below(place_, key)};
}

std::vector<JsonPlace> JsonPlace::items() const {
  if (!value_->is_array()) expected("a list");
  std::vector<JsonPlace> items;
  items.reserve(value_->size());
  for (const auto& item : *value_) items.emplace_back(item, fmt::format("{}[{}]", place_, items.size()));
  return items;
}

std::vector<std::pair<std::string, JsonPlace>> JsonPlace::entries() const {
  if (!value_->is_object()) expected("an object");
  std::vector<std::pair<std::string, JsonPlace>> entries;
  for (const auto& [key, value] : value_->items()) entries.emplace_back(key, JsonPlace(value, below(place_, key)));
  return entries;
}

std::string JsonPlace::text() const {
  if (!value_->is_string()) expected("text");
  return value_->get<std::string>();
}

int64_t JsonPlace::integer() const {
  const bool fits = value_->is_number_integer() &&
                    (!value_->is_number_unsigned() ||
                     value_->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
  if (!fits) expected("an integer of 64 bits");
  return value_->get<int64_t>();
}

bool JsonPlace::boolean() const {
  if (!value_->is_boolean()) expected("true or false");
  return value_->get<bool>();
}

double JsonPlace::number() const {
  if (value_->is_number()) return value_->get<double>();
  const std::string text = value_->is_string() ? value_->get<std::string>() : "";
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  expected("a number");
}

std::pair<std::string, JsonPlace> JsonPlace::only() const {
  if (!value_->is_object() || value_->size() != 1) expected("an object with one key");
  const auto entry = value_->begin();
  return {entry.key(), JsonPlace(entry.value(), below(place_, entry.key()))};
}

namespace {

template <typename Value>
Value value_at(const JsonPlace& number, const std::map<int64_t, Value>& table, const char* what) {
  const auto found = table.find(number.integer());
  if (found == table.end()) number.fail(fmt::format("{} is not a {} of the schema", number.integer(), what));
  return found->second;
}

}  // namespace

c10::ScalarType scalar_type_at(const JsonPlace& number) {
  using c10::ScalarType;
  static const std::map<int64_t, ScalarType> table = {
      {1, ScalarType::Byte},
      {2, ScalarType::Char},
      {3, ScalarType::Short},
      {4, ScalarType::Int},
      {5, ScalarType::Long},
      {6, ScalarType::Half},
      {7, ScalarType::Float},
      {8, ScalarType::Double},
      {9, ScalarType::ComplexHalf},
      {10, ScalarType::ComplexFloat},
      {11, ScalarType::ComplexDouble},
      {12, ScalarType::Bool},
      {13, ScalarType::BFloat16},
      {28, ScalarType::UInt16},
      {29, ScalarType::Float8_e4m3fn},
      {30, ScalarType::Float8_e5m2},
      {31, ScalarType::Float8_e4m3fnuz},
      {32, ScalarType::Float8_e5m2fnuz},
      {33, ScalarType::Float8_e8m0fnu},
      {34, ScalarType::UInt32},
      {35, ScalarType::UInt64},
  };
  return value_at(number, table, "dtype");
}

c10::Layout layout_at(const JsonPlace& number) {
  static const std::map<int64_t, c10::Layout> table = {
      {1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc}, {4, c10::kSparseBsr},
      {5, c10::kSparseBsc}, {6, c10::kMkldnn},    {7, c10::kStrided},
  };
  return value_at(number, table, "layout");
}

c10::MemoryFormat memory_format_at(const JsonPlace& number) {
  static const std::map<int64_t, c10::MemoryFormat> table = {
      {1, c10::MemoryFormat::Contiguous},
      {2, c10::MemoryFormat::ChannelsLast},
      {3, c10::MemoryFormat::ChannelsLast3d},
      {4, c10::MemoryFormat::Preserve},
  };
  return value_at(number, table, "memory format");
}

}  // namespace torchstone::formats::exported
