#include "cases/settings/axes.h"

#include <regex>

#include <fmt/format.h>

#include "cases/settings/yaml.h"
#include "fixtures/core/check_registry.h"

namespace torchstone::config {

std::string check_name_of(const Yaml& node) {
  Words<std::string> words;
  for (const auto& name : check_names()) words.emplace_back(name, name);
  return word_of(node, words, "check");
}

Mode mode_of(const Yaml& node) {
  return word_of(node, words_for(std::vector{Mode::inference, Mode::training}), "mode");
}

DType dtype_of(const Yaml& node) {
  return word_of(node,
                 words_for(std::vector{DType::float32, DType::bfloat16, DType::float16, DType::amp, DType::float64}),
                 "dtype");
}

DType row_dtype_of(const Yaml& node) {
  if (node.kind == Yaml::Kind::scalar && node.text == to_string(DType::as_written)) return DType::as_written;
  return dtype_of(node);
}

Preset preset_of(const Yaml& node) {
  return word_of(node, words_for(std::vector{Preset::mini, Preset::full}), "preset");
}

Dynamic dynamic_of(const Yaml& node) {
  // YAML 1.1 reads a bare `off` as false; here it remains a word.
  return word_of(node, words_for(std::vector{Dynamic::off, Dynamic::batch, Dynamic::all}), "choice of dynamic sizes");
}

std::string device_of(const Yaml& node) {
  static const std::regex pattern("(cpu|cuda(:[0-9]{1,3})?)");
  std::string text = text_of(node);
  if (text.size() > 20 || !std::regex_match(text, pattern))
    fail(node, fmt::format("'{}' is not a supported device (expected cpu, cuda or cuda:N)", text.substr(0, 20)));
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
  using operators::OperatorLayout;
  static const Words<OperatorLayout> layouts{{"recorded", OperatorLayout::recorded},
                                             {"channels_last", OperatorLayout::channels_last}};
  return word_of(node, layouts, "layout");
}

}  // namespace torchstone::config
