#include "models/formats/exported/json_place.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "models/formats/python_place.h"

namespace torchstone::formats::exported {
namespace {

constexpr int deepest = 200;
constexpr size_t most_values = 20'000'000;

/// Appends a key: "models/model.json" → "models/model.json: graph" → "models/model.json: graph.nodes".
std::string below(const std::string& place, const std::string& key) {
  return fmt::format("{}{}{}", place, place.ends_with(".json") ? ": " : ".", key.substr(0, 200));
}

template <typename Value>
Value value_at(const JsonPlace& number, const std::map<int64_t, Value>& table, const char* what) {
  const auto found = table.find(number.integer());
  if (found == table.end()) number.fail(fmt::format("{} is not a {} of the schema", number.integer(), what));
  return found->second;
}

std::string trimmed(const std::string& text) {
  const auto start = text.find_first_not_of(' ');
  return start == std::string::npos ? "" : text.substr(start, text.find_last_not_of(" \r") + 1 - start);
}

/// Returns "model.py:12" for `File "/a/model.py", line 12, in forward`; empty for any other line.
std::string frame_of(const std::string& line) {
  const auto file = line.find("File \""), end = line.find("\", line ");
  if (file == std::string::npos || end == std::string::npos || end < file) return "";
  const std::filesystem::path path = line.substr(file + 6, end - file - 6);
  const auto number = line.substr(end + 8, line.find_first_not_of("0123456789", end + 8) - end - 8);
  return fmt::format("{}:{}", path.filename().string(), number);
}

bool mentions_unbacked(const nlohmann::json& value) {
  const auto expression = value.find("as_expr");
  if (expression == value.end() || !expression->contains("expr_str")) return false;
  const auto& text = (*expression)["expr_str"];
  return text.is_string() && std::ranges::any_of(std::array{"Symbol('u", "Symbol('zuf"}, [&](const char* start) {
           return text.get_ref<const std::string&>().find(start) != std::string::npos;
         });
}

void collect_names(const nlohmann::json& value, std::vector<std::string>& names) {
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      if ((key == "name" || key == "as_name") && item.is_string()) names.push_back(item.get<std::string>());
      collect_names(item, names);
    }
  } else if (value.is_array()) {
    for (const auto& item : value) collect_names(item, names);
  }
}

bool depends_on_values(const std::string& name, const JsonPlace& graph) {
  const auto found = [&](const char* table) -> const nlohmann::json* {
    if (!graph.has(table)) return nullptr;
    const auto& values = graph.at(table).json();
    const auto entry = values.find(name);
    return entry != values.end() && entry->is_object() ? &*entry : nullptr;
  };
  for (const char* table : {"sym_int_values", "sym_float_values", "sym_bool_values"}) {
    if (const auto* value = found(table); value && mentions_unbacked(*value)) return true;
  }
  const auto* tensor = found("tensor_values");
  if (!tensor || !tensor->contains("sizes") || !(*tensor)["sizes"].is_array()) return false;
  return std::ranges::any_of((*tensor)["sizes"], mentions_unbacked);
}

/// Splits a text at separators outside brackets: a key may be `getattr(L['self'].layers, '0')`.
std::vector<std::string> split_outside_brackets(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int open = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++open;
    if (c == ')' || c == ']') --open;
    if (c == separator && open <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool is_dotted_name(const std::string& text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  return std::ranges::all_of(text, allowed) && !text.starts_with('.') && !text.ends_with('.');
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
  const auto found = value_->find(key);  // end() for anything but an object
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

c10::ScalarType scalar_type_at(const JsonPlace& number) {
  static const std::map<int64_t, c10::ScalarType> table = {{1, c10::kByte},
                                                           {2, c10::kChar},
                                                           {3, c10::kShort},
                                                           {4, c10::kInt},
                                                           {5, c10::kLong},
                                                           {6, c10::kHalf},
                                                           {7, c10::kFloat},
                                                           {8, c10::kDouble},
                                                           {9, c10::kComplexHalf},
                                                           {10, c10::kComplexFloat},
                                                           {11, c10::kComplexDouble},
                                                           {12, c10::kBool},
                                                           {13, c10::kBFloat16},
                                                           {28, c10::kUInt16},
                                                           {29, c10::kFloat8_e4m3fn},
                                                           {30, c10::kFloat8_e5m2},
                                                           {31, c10::kFloat8_e4m3fnuz},
                                                           {32, c10::kFloat8_e5m2fnuz},
                                                           {33, c10::kFloat8_e8m0fnu},
                                                           {34, c10::kUInt32},
                                                           {35, c10::kUInt64}};
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

std::string source_place(const JsonPlace& node) {
  if (!node.has("metadata") || !node.at("metadata").has("stack_trace")) return "";
  std::istringstream lines(node.at("metadata").at("stack_trace").text());
  std::string place, code, candidate;
  for (std::string line; std::getline(lines, line);) {
    const auto frame = frame_of(line);
    if (frame.empty()) {
      if (!candidate.empty()) code = trimmed(line);
      candidate.clear();
    } else if (line.find("site-packages/torch/") == std::string::npos && line.find("File \"<") == std::string::npos) {
      place = candidate = frame;
      code.clear();
    } else {
      candidate.clear();
    }
  }
  return code.empty() ? place : fmt::format("{}: {}", place, code.substr(0, 200));
}

std::string node_name(const JsonPlace& node) {
  std::string target = node.at("target").text().substr(0, 200);
  if (target.starts_with("torch.ops.")) target = target.substr(10);
  const auto source = source_place(node);
  return source.empty() ? target : fmt::format("{} ({})", target, source);
}

void refuse_target(const JsonPlace& node) {
  const auto target = node.at("target").text();
  const auto name = node_name(node);
  if (target == "torch.ops.higher_order.cond" || target == "torch.ops.higher_order.while_loop")
    node.fail(
        fmt::format("{}: control flow on values is not supported; export the model with the branch that the sample "
                    "inputs take, by a plain if on sizes or Python values",
                    name));
  if (target.starts_with("torch.ops.higher_order."))
    node.fail(
        fmt::format("{}: this higher-order operator is not supported (only wrap_with_set_grad_enabled and "
                    "wrap_with_autocast are); export the model without it, or after "
                    "exported_program.run_decompositions()",
                    name));
  node.fail(
      fmt::format("{}: LibTorch has no such operator; load the library that registers it with "
                  "--torchstone_library=FILE.so, or export after exported_program.run_decompositions() if it "
                  "is written in Python",
                  name));
}

void refuse_unbacked(const JsonPlace& node, const JsonPlace& graph) {
  std::vector<std::string> names;
  collect_names(node.at("outputs").json(), names);
  for (const auto& name : names) {
    if (depends_on_values(name, graph))
      node.fail(
          fmt::format("{}: a size or value of its result depends on the values of tensors; compiled programs "
                      "have fixed sizes, so export the model without it, for example with a mask instead of an "
                      "index",
                      node_name(node)));
  }
}

std::string module_path(const JsonPlace& node) {
  constexpr const char* key = "nn_module_stack";
  if (!node.has("metadata") || !node.at("metadata").has(key)) return "";
  // "KEY,PATH,TYPE;KEY,PATH,TYPE", the innermost last (torch/_export/serde/serialize.py, serialize_metadata).
  const auto innermost =
      split_outside_brackets(split_outside_brackets(node.at("metadata").at(key).text(), ';').back(), ',');
  if (innermost.size() != 3) return "";
  const std::string path = innermost[1].substr(0, innermost[1].find('@'));  // "conv@1": its second call
  if (!is_dotted_name(path) || path.size() > 1000) return "";
  return path.empty() ? own_forward : path;
}

}  // namespace torchstone::formats::exported
