#include "cases/config/yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "cases/config/nearest.h"

namespace torchstone::config {
namespace {

// Long and unprintable values are shortened, so that an error stays one readable line.
std::string shown(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return text.size() > 60 ? out + "…" : out;
}

std::string kind_name(const Yaml& node) {
  switch (node.kind) {
    case Yaml::Kind::null:
      return "nothing";
    case Yaml::Kind::scalar:
      return fmt::format("'{}'", shown(node.text));
    case Yaml::Kind::sequence:
      return "a list";
    case Yaml::Kind::map:
      return "a map";
  }
  return "";
}

template <typename Number>
std::optional<Number> whole_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

void append_flat(const Yaml& node, std::vector<Yaml>& out) {
  if (node.kind == Yaml::Kind::null) return;
  if (node.kind != Yaml::Kind::sequence) return out.push_back(node);
  for (const auto& item : node.items) append_flat(item, out);
}

}  // namespace

std::string origin_of(const Place& place) {
  return place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
}

void fail(const Place& place, const std::string& what) {
  const std::string path = place.path.empty() ? "" : shown(place.path) + ": ";
  throw ConfigError(fmt::format("{}: {}{}", origin_of(place), path, what));
}

const Yaml* Yaml::find(const std::string& key) const {
  for (const auto& [name, value] : entries)
    if (name == key) return &value;
  return nullptr;
}

Yaml scalar_of_flag(const std::string& flag, const std::string& text) {
  Yaml node;
  node.file = flag;
  node.kind = Yaml::Kind::scalar;
  node.text = text;
  return node;
}

const Yaml& require(const Yaml& map, const std::string& key) {
  require_map(map);
  if (const Yaml* value = map.find(key)) return *value;
  fail(map, fmt::format("the key {} is missing", key));
}

void require_map(const Yaml& node) {
  if (node.kind != Yaml::Kind::map) fail(node, fmt::format("{} (expected a map key: value)", kind_name(node)));
}

void require_keys(const Yaml& map, const std::vector<std::string>& known) {
  require_map(map);
  for (const auto& [key, value] : map.entries) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    fail(value, fmt::format("unknown key ({})", expected_one_of(key, known)));
  }
}

std::string text_of(const Yaml& node) {
  if (node.kind != Yaml::Kind::scalar) fail(node, fmt::format("{} (expected a text)", kind_name(node)));
  return node.text;
}

bool boolean_of(const Yaml& node) {
  if (node.kind == Yaml::Kind::scalar && node.text == "true") return true;
  if (node.kind == Yaml::Kind::scalar && node.text == "false") return false;
  fail(node, fmt::format("{} (expected true or false)", kind_name(node)));
}

int64_t integer_of(const Yaml& node, int64_t low, int64_t high) {
  const auto value = node.kind == Yaml::Kind::scalar ? whole_number<int64_t>(node.text) : std::nullopt;
  if (!value || *value < low || *value > high)
    fail(node, fmt::format("{} (expected a whole number from {} to {})", kind_name(node), low, high));
  return *value;
}

double number_of(const Yaml& node, double low, double high) {
  const auto value = node.kind == Yaml::Kind::scalar ? whole_number<double>(node.text) : std::nullopt;
  if (!value || !std::isfinite(*value) || *value < low || *value > high)
    fail(node, fmt::format("{} (expected a number from {} to {})", kind_name(node), low, high));
  return *value;
}

std::vector<Yaml> list_of(const Yaml& node) {
  if (node.kind == Yaml::Kind::map) fail(node, "a map (expected a list)");
  std::vector<Yaml> items;
  append_flat(node, items);
  return items;
}

}  // namespace torchstone::config
