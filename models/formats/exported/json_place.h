#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>
#include <nlohmann/json.hpp>

namespace torchstone::formats::exported {

/// Parses a JSON record of an archive, without `from_node` in the metadata of nodes. Throws std::invalid_argument with
/// the record for text that is not JSON, nests deeper than 200 levels or holds more than 20 million values.
nlohmann::json parse_json(const std::string& text, const std::string& record);

/// A value in a JSON document with its place, for messages: "models/model.json: graph_module.graph.nodes[3]". Each
/// function throws std::invalid_argument with the place and what was expected there. The document must outlive the
/// value.
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& value, std::string place) : value_(&value), place_(std::move(place)) {}

  /// Returns whether the value is an object with a value other than null under this key.
  bool has(const std::string& key) const;
  bool is_null() const { return value_->is_null(); }
  JsonPlace at(const std::string& key) const;
  std::vector<JsonPlace> items() const;
  std::vector<std::pair<std::string, JsonPlace>> entries() const;
  std::string text() const;
  int64_t integer() const;
  bool boolean() const;
  /// Returns a number, which the schema writes as text for Infinity, -Infinity and NaN.
  double number() const;
  /// Returns the key and value of an object with one entry: a union of the schema.
  std::pair<std::string, JsonPlace> only() const;

  const nlohmann::json& json() const { return *value_; }
  const std::string& place() const { return place_; }
  [[noreturn]] void fail(const std::string& text) const;

 private:
  [[noreturn]] void expected(const char* what) const;

  const nlohmann::json* value_;
  std::string place_;
};

/// Converts the number of an enum of the schema (torch/_export/serde/schema.py), which differs from LibTorch's.
c10::ScalarType scalar_type_at(const JsonPlace& number);
c10::Layout layout_at(const JsonPlace& number);
c10::MemoryFormat memory_format_at(const JsonPlace& number);

/// Returns where a node comes from in the user's Python: "model.py:12: x = y.item()". This is the last line outside
/// PyTorch in the `stack_trace` of its metadata; empty without such a line.
std::string source_place(const JsonPlace& node);

/// Returns the node for messages: operator and place in the user's source.
std::string node_name(const JsonPlace& node);

/// Throws std::invalid_argument with what to do about a target that cannot run: a higher-order operator, or an operator
/// that LibTorch lacks.
[[noreturn]] void refuse_target(const JsonPlace& node);

/// Throws std::invalid_argument if a size or a value of the node's results depends on the values of tensors (an
/// unbacked symbol). `graph` describes these results.
void refuse_unbacked(const JsonPlace& node, const JsonPlace& graph);

/// Returns the module whose forward called a node, from the `nn_module_stack` of its metadata: "layers.0.conv", or
/// own_forward (models/formats/python_place.h) for the model itself. Empty without such an entry.
std::string module_path(const JsonPlace& node);

}  // namespace torchstone::formats::exported
