#include "cases/selection/shipping.h"

#include <regex>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"

namespace torchstone::selection {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

bool is_script(const std::string& file) { return file.ends_with(".pt"); }

/// Within the double quotes of Python and C++.
std::string in_quotes(const std::string& text) { return replaced(replaced(text, "\\", "\\\\"), "\"", "\\\""); }

/// Python's code stands in single quotes there.
std::string in_shell(const std::string& text) { return replaced(text, "'", "'\\''"); }

/// {"freezing": True, "cpp.threads": 1}
std::string python_options(const BackendSpec& backend) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : backend.options) {
    const std::string literal = value == "true"       ? "True"
                                : value == "false"    ? "False"
                                : value == "none"     ? "None"
                                : parse_number(value) ? value
                                                      : '"' + in_quotes(value) + '"';
    entries.push_back(fmt::format("\"{}\": {}", key, literal));
  }
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

const std::set<std::string> placeholders{"device", "file", "label", "name", "options", "program", "scripted"};

/// Of lower-case letters alone, which no code of C++ or Python is.
std::vector<std::string> words_in_braces(const std::string& line) {
  static const std::regex word("[{]([a-z_]+)[}]");
  std::vector<std::string> words;
  for (std::sregex_iterator found(line.begin(), line.end(), word), end; found != end; ++found)
    words.push_back((*found)[1]);
  return words;
}

/// A line is of the backend without options, unless it takes them.
bool is_of(const ShippingLines& lines, const BackendSpec& backend) {
  return backend.options.empty() || lines.exported.find("{options}") != std::string::npos;
}

/// Options of Torchstone's own, which Inductor does not know.
const std::set<std::string> own_options{"patches", "quantization", "training"};

std::string filled(std::string text, const Case& c, const std::string& path, const std::string& escaped) {
  const std::string load = "torch.export.load(\"{file}\")";
  text = replaced(
      text, "{program}",
      c.device == "cpu" ? load : fmt::format("torch.export.passes.move_to_device_pass({}, \"{}\")", load, c.device));
  text = replaced(text, "{scripted}", is_script(path) ? "{file}" : "{name}_torchscript.pt");
  text = replaced(text, "{options}", in_shell(python_options(c.backend)));
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
    std::string line = found ? text_of(*found) : "";
    for (const std::string& word : words_in_braces(line))
      if (!placeholders.contains(word))
        config::fail(
            *found, fmt::format("unknown placeholder {{{}}} (expected {{{}}})", word, fmt::join(placeholders, "}, {")));
    return line;
  };
  return {text("exported"), text("script"), text("code")};
}

Shipping shipping_of(const std::map<std::string, ShippingLines>& lines, const Case& c, const std::string& file) {
  if (c.backend.name == "eager") return {"", "", "the model as it is"};
  if (c.mode == Mode::training) return {"", "", "a step of training is no model to ship"};
  if (c.dtype != DType::float32 && c.dtype != DType::as_written)
    return {"", "", fmt::format("the lines are of the file as it is, not of its cast to {}", to_string(c.dtype))};
  for (const auto& [key, value] : c.backend.options)
    if (own_options.contains(key)) return {"", "", fmt::format("{} is Torchstone's own, not the compiler's", key)};
  auto found = lines.find(to_string(c.backend));
  if (found == lines.end()) found = lines.find(c.backend.name);
  if (found == lines.end() || (found->second.exported.empty() && found->second.code.empty()) ||
      (found->first == c.backend.name && !is_of(found->second, c.backend)))
    return {"", "", fmt::format("no line of {} is known", to_string(c.backend))};
  const auto& [of_exported, of_script, code] = found->second;
  if (is_script(file) && of_script.empty() && code.find("{scripted}") == std::string::npos)
    return {"", "", fmt::format("no line of {} is known for a file of TorchScript", c.backend.name)};
  // Otherwise a folder of two exported programs.
  const std::string path = is_script(file) || file.ends_with(".pt2") ? file : file + "/eval.pt2";
  const std::string quoted = in_quotes(path);
  return {filled(is_script(file) ? of_script : of_exported, c, path, in_shell(quoted)), filled(code, c, path, quoted),
          ""};
}

}  // namespace torchstone::selection
