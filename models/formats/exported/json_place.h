#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace torchstone::formats::exported
