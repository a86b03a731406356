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

/// Parses a JSON record of an archive. Leaves out what is only for people (`from_node` in the metadata of a node).
/// Throws std::invalid_argument naming the record for text that is no JSON, nests deeper than 200 levels or holds more
/// than 20 million values.
nlohmann::json parse_json(const std::string& text, const std::string& record);

/// A value in a JSON document together with its place, for messages: "models/model.json: graph_module.graph.nodes[3]".
/// Each function throws std::invalid_argument with the place and what was expected there. The document must outlive it.
class JsonPlace {
 public:
  JsonPlace(const nlohmann::json& value, std::string place) : value_(&value), place_(std::move(place)) {}

  /// Whether the value is an object with this key and something else than null under it.
  bool has(const std::string& key) const;
  bool is_null() const { return value_->is_null(); }
  JsonPlace at(const std::string& key) const;
  std::vector<JsonPlace> items() const;
  std::vector<std::pair<std::string, JsonPlace>> entries() const;
  std::string text() const;
  int64_t integer() const;
  bool boolean() const;
  /// The schema writes Infinity, -Infinity and NaN as text.
  double number() const;
  /// A union of the schema: the one key of an object, and what stands under it.
  std::pair<std::string, JsonPlace> only() const;

  const nlohmann::json& json() const { return *value_; }
  const std::string& place() const { return place_; }
  [[noreturn]] void fail(const std::string& text) const;

 private:
  [[noreturn]] void expected(const char* what) const;

  const nlohmann::json* value_;
  std::string place_;
};

/// What the numbers of the schema's enums stand for (torch/_export/serde/schema.py); they differ from LibTorch's.
c10::ScalarType scalar_type_at(const JsonPlace& number);
c10::Layout layout_at(const JsonPlace& number);
c10::MemoryFormat memory_format_at(const JsonPlace& number);

/// Where a node was written in the user's Python, from the `stack_trace` of its metadata: "model.py:12: x = y.item()".
/// The last line of the trace that lies in a file outside PyTorch; empty when the node has none.
std::string source_place(const JsonPlace& node);

/// The node for messages: operator, name and place in the user's source.
std::string node_name(const JsonPlace& node);

/// Throws std::invalid_argument that says what to do about a target that cannot be run: a higher-order operator, or an
/// operator that LibTorch does not know.
[[noreturn]] void refuse_target(const JsonPlace& node);

/// Throws std::invalid_argument when what the node returns has a size or a value that depends on the values of tensors
/// (an unbacked symbol). `graph` holds the descriptions of its values.
void refuse_unbacked(const JsonPlace& node, const JsonPlace& graph);

/// The module in whose forward a node was called, from the `nn_module_stack` of its metadata: "layers.0.conv", and
/// own_forward (models/formats/python_place.h) for the model itself. Empty when the node has none or another form.
std::string module_path(const JsonPlace& node);

}  // namespace torchstone::formats::exported
