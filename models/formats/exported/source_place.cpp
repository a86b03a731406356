// Where the nodes of an exported graph come from in the user's Python, and messages about nodes that cannot run.
#include <cctype>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "models/formats/exported/json_place.h"
#include "models/formats/python_place.h"

namespace torchstone::formats::exported {
namespace {

std::string trimmed(const std::string& text) {
  const auto start = text.find_first_not_of(' ');
  return start == std::string::npos ? "" : text.substr(start, text.find_last_not_of(" \r") + 1 - start);
}

/// Returns "model.py:12" for `File "/a/model.py", line 12, in forward`; empty for any other line.
std::string frame_of(const std::string& line) {
  const auto file = line.find("File \""), end = line.find("\", line ");
  if (file == std::string::npos || end == std::string::npos || end < file) return "";
  const std::string path = line.substr(file + 6, end - file - 6);
  const auto folder = path.find_last_of('/');
  const auto number = line.substr(end + 8, line.find_first_not_of("0123456789", end + 8) - end - 8);
  return fmt::format("{}:{}", path.substr(folder == std::string::npos ? 0 : folder + 1), number);
}

bool mentions_unbacked(const nlohmann::json& value) {
  const auto expression = value.find("as_expr");
  if (expression == value.end() || !expression->contains("expr_str")) return false;
  const auto& text = (*expression)["expr_str"];
  if (!text.is_string()) return false;
  for (const char* start : {"Symbol('u", "Symbol('zuf"}) {
    const auto found = text.get_ref<const std::string&>().find(start);
    if (found != std::string::npos) return true;
  }
  return false;
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
    const auto entry = values.is_object() ? values.find(name) : values.end();
    return values.is_object() && entry != values.end() && entry->is_object() ? &*entry : nullptr;
  };
  for (const char* table : {"sym_int_values", "sym_float_values", "sym_bool_values"}) {
    if (const auto* value = found(table); value && mentions_unbacked(*value)) return true;
  }
  const auto* tensor = found("tensor_values");
  if (!tensor || !tensor->contains("sizes") || !(*tensor)["sizes"].is_array()) return false;
  for (const auto& size : (*tensor)["sizes"]) {
    if (size.is_object() && mentions_unbacked(size)) return true;
  }
  return false;
}

}  // namespace

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

namespace {

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
  const std::string path = innermost[1].substr(0, innermost[1].find('@'));  // "conv@1": its second call
  if (!is_dotted_name(path) || path.size() > 1000) return "";
  return path.empty() ? own_forward : path;
}

}  // namespace torchstone::formats::exported
