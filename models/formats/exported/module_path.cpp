#include "models/formats/exported/module_path.h"

#include <cctype>
#include <vector>

#include "models/formats/traced_place.h"

namespace torchstone::formats::exported {
namespace {

/// The parts between separators that stand in no brackets: a key may be `getattr(L['self'].layers, '0')`.
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
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') return false;
  return !text.starts_with('.') && !text.ends_with('.');
}

}  // namespace

std::string module_path(const JsonPlace& node) {
  constexpr const char* key = "nn_module_stack";
  if (!node.has("metadata") || !node.at("metadata").has(key)) return "";
  // "KEY,PATH,TYPE;KEY,PATH,TYPE", the innermost last (torch/_export/serde/serialize.py, serialize_metadata).
  const auto innermost =
      split_outside_brackets(split_outside_brackets(node.at("metadata").at(key).text(), ';').back(), ',');
  if (innermost.size() != 3) return "";
  const std::string path = innermost[1].substr(0, innermost[1].find('@'));  // "conv@1": a further call of it
  if (!is_dotted_name(path) || path.size() > 1000) return "";
  return path.empty() ? own_forward : path;
}

}  // namespace torchstone::formats::exported
