#include "cases/selection/shipping.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace torchstone::selection {
namespace {

/// {"freezing": True, "cpp.threads": 1}
std::string python_options(const BackendSpec& backend) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : backend.options) {
    const bool number = !value.empty() && value.find_first_not_of("0123456789.") == std::string::npos;
    const std::string literal = value == "true"    ? "True"
                                : value == "false" ? "False"
                                : number           ? value
                                                   : '"' + value + '"';
    entries.push_back(fmt::format("\"{}\": {}", key, literal));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Within the double quotes of Python and C++.
std::string in_quotes(const std::string& text) { return replaced(replaced(text, "\\", "\\\\"), "\"", "\\\""); }

std::string filled(std::string text, const Case& c, const std::string& path, const std::string& escaped) {
  const std::string load = "torch.export.load(\"{file}\")";
  text = replaced(
      text, "{program}",
      c.device == "cpu" ? load : fmt::format("torch.export.passes.move_to_device_pass({}, \"{}\")", load, c.device));
  text = replaced(text, "{scripted}", path.ends_with(".pt") ? "{file}" : "{name}_torchscript.pt");
  text = replaced(text, "{options}", python_options(c.backend));
  text = replaced(text, "{label}", label_of(c.backend));
  text = replaced(text, "{device}", c.device);
  text = replaced(text, "{name}", c.model);
  return replaced(text, "{file}", escaped);  // the last one, as its name may hold anything
}

}  // namespace

ShippingLines read_shipping(const config::Yaml& node) {
  config::require_map(node);
  config::require_keys(node, {"exported", "script", "code"});
  const auto text = [&](const char* key) {
    const config::Yaml* found = node.find(key);
    return found ? text_of(*found) : std::string();
  };
  return {text("exported"), text("script"), text("code")};
}

Shipping shipping_of(const std::map<std::string, ShippingLines>& lines, const Case& c, const std::string& file) {
  if (c.mode == Mode::training) return {"", "", "a step of training is no model to ship"};
  if (c.dtype != DType::float32)
    return {"", "", fmt::format("the lines are of the file as it is, not of its cast to {}", to_string(c.dtype))};
  if (c.backend.options.contains("quantization"))
    return {"", "", "torchao quantises a model in Python, not an exported program"};
  auto found = lines.find(to_string(c.backend));
  if (found == lines.end()) found = lines.find(c.backend.name);
  const bool exported = file.ends_with(".pt2");
  if (found == lines.end() || (found->second.exported.empty() && found->second.code.empty()))
    return {"", "", fmt::format("no line of {} is known", c.backend.name)};
  const auto& [of_exported, of_script, code] = found->second;
  if (!exported && of_script.empty() && code.find("{scripted}") == std::string::npos)
    return {"", "", fmt::format("no line of {} is known for a file of TorchScript", c.backend.name)};
  const std::string quoted = in_quotes(file);
  const std::string in_shell = replaced(quoted, "'", "'\\''");  // Python's code stands in single quotes there
  return {filled(exported ? of_exported : of_script, c, file, in_shell), filled(code, c, file, quoted), ""};
}

}  // namespace torchstone::selection
