#include "cases/settings/yaml.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "reports/base/text.h"

namespace torchstone::config {
namespace {

constexpr size_t max_bytes = 1 << 20;
constexpr int max_depth = 32;
constexpr int max_values = 100'000;

bool is_utf8(const std::string& line) {
  try {
    return !nlohmann::json(line).dump().empty();  // refuses invalid sequences
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// Refuses bytes that yaml-cpp mishandles: it silently replaces invalid UTF-8 and takes byte 4 for the end of the file.
void check_bytes(const std::string& text, const std::string& file) {
  if (text.size() > max_bytes) fail({file}, fmt::format("{} bytes (expected at most {})", text.size(), max_bytes));
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (!is_utf8(line)) fail({file, number}, "not valid UTF-8");
    for (const char c : line)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r')
        fail({file, number}, fmt::format("control character {} (expected text)", static_cast<int>(c)));
  }
}

struct IgnoreEvents : YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// Refuses content after the first document, which YAML::Load silently drops. YAML::LoadAll is no alternative: a stray
// `,` or `]` makes a document that consumes nothing, so it never ends.
void check_single_document(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  IgnoreEvents ignore;
  parser.HandleNextDocument(ignore);
  if (parser) fail({file}, "something follows the first document (expected one; is there a stray , or ] or }?)");
}

// Turns yaml-cpp's graph into a tree of bounded size. With aliases the graph may share nodes and even contain itself.
class Converter {
 public:
  explicit Converter(std::string file) : file_(std::move(file)) {}

  Yaml convert(const YAML::Node& node, const std::string& path, int line, int depth) {
    Yaml out;
    out.file = file_;
    out.path = path;
    out.line = line;
    if (depth > max_depth) fail(out, fmt::format("nested too deeply (expected at most {} levels)", max_depth));
    if (++values_ > max_values)
      fail(out, fmt::format("too many values (expected at most {}; do aliases repeat each other?)", max_values));
    if (node.IsScalar()) {
      out.kind = Yaml::Kind::scalar;
      out.text = node.Scalar();
    } else if (node.IsSequence()) {
      out.kind = Yaml::Kind::sequence;
      for (const auto& item : node)
        out.items.push_back(
            convert(item, fmt::format("{}[{}]", path, out.items.size()), line_of(item, line), depth + 1));
    } else if (node.IsMap()) {
      convert_entries(node, depth, out);
    }
    return out;
  }

  static int line_of(const YAML::Node& node, int otherwise) {
    const int line = node.Mark().line;
    return line >= 0 ? line + 1 : otherwise;
  }

 private:
  void convert_entries(const YAML::Node& node, int depth, Yaml& out) {
    out.kind = Yaml::Kind::map;
    std::set<std::string> seen;
    for (const auto& entry : node) {
      const YAML::Node& key = entry.first;
      const int line = line_of(key, out.line);
      if (!key.IsScalar()) fail({file_, line, out.path}, "a key that is not text (expected key: value)");
      const std::string path = out.path.empty() ? key.Scalar() : out.path + "." + key.Scalar();
      if (path.size() > 1000) fail({file_, line, out.path}, "a key longer than 1000 characters");
      if (!seen.insert(key.Scalar()).second) fail({file_, line, path}, "the key is repeated");
      out.entries.emplace_back(key.Scalar(), convert(entry.second, path, line, depth + 1));
    }
  }

  std::string file_;
  int values_ = 0;
};

// Shortens a value and replaces control characters, so that an error stays one readable line.
std::string shown(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 60)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return text.size() > 60 ? out + "…" : out;
}

std::string kind_name(const Yaml& node) {
  if (node.kind == Yaml::Kind::scalar) return fmt::format("'{}'", shown(node.text));
  return node.kind == Yaml::Kind::null ? "nothing" : node.kind == Yaml::Kind::sequence ? "a list" : "a map";
}

void append_flat(const Yaml& node, std::vector<Yaml>& out) {
  if (node.kind == Yaml::Kind::null) return;
  if (node.kind != Yaml::Kind::sequence) return out.push_back(node);
  for (const auto& item : node.items) append_flat(item, out);
}

}  // namespace

Yaml parse_yaml(const std::string& text, const std::string& file) {
  check_bytes(text, file);
  try {
    check_single_document(text, file);
    const YAML::Node document = YAML::Load(text);
    if (document.IsNull()) fail({file}, "the file is empty");
    return Converter(file).convert(document, "", Converter::line_of(document, 1), 0);
  } catch (const YAML::Exception& error) {
    fail({file, error.mark.is_null() ? 0 : error.mark.line + 1}, "not valid YAML: " + error.msg);
  }
}

Yaml read_yaml(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail({file}, "the file cannot be read");
  std::string text;
  // Reads at most one byte more than allowed, so that an endless file such as a device is refused.
  text.resize(max_bytes + 1);
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad() || (stream.gcount() == 0 && !stream.eof()))
    fail({file}, "the file cannot be read (is it a folder?)");
  text.resize(static_cast<size_t>(stream.gcount()));
  return parse_yaml(text, file);
}

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
  for (const auto& [key, value] : map.entries) require_known(value, key, known, "unknown key");
}

void require_known(const Place& place, const std::string& name, const std::vector<std::string>& known,
                   const std::string& what) {
  if (std::ranges::find(known, name) == known.end())
    fail(place, fmt::format("{} ({})", what, expected_one_of(name, known)));
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
  const auto value = node.kind == Yaml::Kind::scalar ? parse_integer<int64_t>(node.text) : std::nullopt;
  if (!value || *value < low || *value > high)
    fail(node, fmt::format("{} (expected a whole number from {} to {})", kind_name(node), low, high));
  return *value;
}

double number_of(const Yaml& node, double low, double high) {
  const auto value = node.kind == Yaml::Kind::scalar ? parse_number(node.text) : std::nullopt;
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
