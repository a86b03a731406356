#include "cases/config/axes.h"

#include <regex>

#include <fmt/format.h>

#include "cases/config/nearest.h"

namespace torchstone::config {
namespace {

template <typename Enum>
Enum word_of(const Yaml& node, const char* what, std::optional<Enum> (*parse)(const std::string&),
             const std::vector<Enum>& all) {
  std::string text = text_of(node);
  if (const auto value = parse(text)) return *value;
  std::vector<std::string> words;
  for (const Enum value : all) words.push_back(to_string(value));
  fail(node, fmt::format("'{}' is no {} ({})", text, what, expected_one_of(text, words)));
}

}  // namespace

Check check_of(const Yaml& node) {
  return word_of<Check>(node, "check", parse_check, {Check::accuracy, Check::performance, Check::tolerance});
}

Mode mode_of(const Yaml& node) { return word_of<Mode>(node, "mode", parse_mode, {Mode::inference, Mode::training}); }

DType dtype_of(const Yaml& node) {
  return word_of<DType>(node, "dtype", parse_dtype, {DType::float32, DType::bfloat16, DType::float16, DType::amp});
}

Preset preset_of(const Yaml& node) {
  return word_of<Preset>(node, "preset", parse_preset, {Preset::mini, Preset::full});
}

std::string device_of(const Yaml& node) {
  static const std::regex pattern("(cpu|(cuda|xpu)(:[0-9]{1,3})?)");
  std::string text = text_of(node);
  if (text.size() > 20 || !std::regex_match(text, pattern))
    fail(node, fmt::format("'{}' is no device (expected cpu, cuda, cuda:N, xpu or xpu:N)", text.substr(0, 20)));
  return text;
}

BackendSpec backend_spec_of(const Yaml& node) {
  if (node.kind != Yaml::Kind::map) {
    try {
      return parse_backend(text_of(node));
    } catch (const std::invalid_argument& error) {
      fail(node, error.what());
    }
  }
  if (node.entries.size() != 1)
    fail(node, fmt::format("{} backends in one map (expected name: {{option: value}})", node.entries.size()));
  const auto& [name, options] = node.entries.front();
  if (name.empty()) fail(node, "a backend without a name (expected name: {option: value})");
  BackendSpec backend{name, {}};
  if (options.kind == Yaml::Kind::null) return backend;
  require_map(options);
  for (const auto& [option, value] : options.entries) backend.options[option] = text_of(value);
  return backend;
}

operators::OperatorLayout layout_of(const Yaml& node) {
  const std::string text = text_of(node);
  if (text == "recorded") return operators::OperatorLayout::recorded;
  if (text == "channels_last") return operators::OperatorLayout::channels_last;
  fail(node, fmt::format("'{}' is no layout ({})", text, expected_one_of(text, {"recorded", "channels_last"})));
}

}  // namespace torchstone::config
