#include "cases/main/python_model.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <torchstone/model_info.h>

#include "cases/main/only_model.h"
#include "fixtures/compile/cache_folder.h"

namespace torchstone {
namespace {

constexpr std::string_view path_mark = "path:", class_mark = ",class:", module_mark = "module:";
constexpr std::string_view with_parts = "transformers:";

/// Returns a name that no model has: NAME, NAME_python, NAME_python2, …
std::string name_for(std::string_view text) {
  std::string name(text);
  const auto is_word = [](unsigned char letter) { return std::isalnum(letter) != 0; };
  std::ranges::replace_if(
      name, [&](char letter) { return !is_word(static_cast<unsigned char>(letter)); }, '_');
  if (find_model(name) == nullptr) return name;
  name += "_python";
  std::string free = name;
  for (int number = 2; find_model(free) != nullptr; ++number) free = name + std::to_string(number);
  return free;
}

PythonModel model_of_path(const std::string& only, const config::Place& place) {
  const auto comma = only.rfind(class_mark);
  const std::string name = comma == std::string::npos ? "" : only.substr(comma + class_mark.size());
  if (name.empty()) fail(place, fmt::format("'{}' names no class (expected path:FILE.py,class:NAME)", only));
  const std::string file = only.substr(path_mark.size(), comma - path_mark.size());
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) fail(place, fmt::format("{}: no such file", file));
  return {only, name_for(name), "", std::nullopt, file};
}

PythonModel model_of_module(const std::string& only, const config::Place& place) {
  const auto colon = only.find(':', module_mark.size());
  if (colon == std::string::npos || colon == module_mark.size() || colon + 1 == only.size())
    fail(place, fmt::format("'{}' names no function (expected module:PACKAGE.MODULE:FUNCTION_OR_CLASS)", only));
  return {only, name_for(std::string_view(only).substr(colon + 1)), ""};
}

bool is_part_of_generation(const std::string& only) {
  return is_named_model(only) && only.find(',') != std::string::npos;
}

bool is_part(std::string_view text) { return text == "prefill" || text == "decode" || text == "generate"; }

bool is_token_count(std::string_view text) {
  const auto is_digit = [](unsigned char letter) { return std::isdigit(letter) != 0; };
  return !text.empty() && text.size() <= 7 && text.front() != '0' && std::ranges::all_of(text, is_digit);
}

/// Returns a model `transformers:CLASS,part=PART[,prompt=TOKENS][,new=TOKENS]` (fixtures/python/process/
/// generation_part.py). Its name is CLASS_PART, followed by the other keys with their values.
PythonModel model_of_part(const std::string& only, const config::Place& place) {
  const auto refuse = [&](const std::string& what) {
    fail(place, fmt::format("'{}' {} (expected transformers:CLASS,part=prefill|decode|generate[,prompt=TOKENS]"
                            "[,new=TOKENS])",
                            only, what));
  };
  if (!only.starts_with(with_parts)) refuse("has keys, which only models of transformers have");
  const auto comma = only.find(',');
  const std::string class_name = only.substr(with_parts.size(), comma - with_parts.size());
  if (class_name.empty()) refuse("names no class");
  std::map<std::string, std::string> values;
  std::istringstream fields(only.substr(comma + 1));
  for (std::string text; std::getline(fields, text, ',');) {
    const auto equals = std::min(text.find('='), text.size());
    const std::string key = text.substr(0, equals), value = text.substr(std::min(equals + 1, text.size()));
    if (key != "part" && key != "prompt" && key != "new") refuse(fmt::format("has the unknown key '{}'", key));
    if (key == "part" ? !is_part(value) : !is_token_count(value)) refuse(fmt::format("has {}={}", key, value));
    if (!values.try_emplace(key, value).second) refuse(fmt::format("has {} twice", key));
  }
  if (!values.contains("part")) refuse("names no part");
  std::string name = fmt::format("{}_{}", name_for(class_name), values["part"]);
  for (const char* key : {"prompt", "new"})
    if (values.contains(key)) name += fmt::format("_{}{}", key, values[key]);
  return {only, name, fmt::format("part={} generates text, which has no training step", values["part"])};
}

/// Returns the upstream suite that takes models from a source of the exporter (`suite` in cases/exporter/source_*.py);
/// empty for `upstream`, whose names may be of any suite.
std::string suite_of_source(std::string_view source) {
  if (source == "upstream") return "";
  return source == "timm" ? "timm" : source == "transformers" ? "huggingface" : "torchbench";
}

PythonModel model_of_package(const std::string& only) {
  const auto colon = only.find(':');
  const std::string name = only.substr(colon + 1);
  PythonModel model{only, name_for(name), ""};
  model.upstream = UpstreamModel{suite_of_source(std::string_view(only).substr(0, colon)), name};
  return model;
}

}  // namespace

std::optional<PythonModel> python_model_of(const config::Choice<std::string>& choice, flags::SubjectKind subject) {
  const auto& [only, place] = choice;
  if (only.starts_with(path_mark)) return model_of_path(only, place);
  if (only.starts_with(module_mark)) return model_of_module(only, place);
  if (subject != flags::SubjectKind::python) {
    if (is_part_of_generation(only))
      fail(place, fmt::format("'{}' needs --torchstone_subject=python: a part of generation runs in Python", only));
    return std::nullopt;
  }
  if (!is_named_model(only))
    fail(place, fmt::format("'{}' is not a Python module (expected path:FILE.py,class:NAME, "
                            "module:PACKAGE.MODULE:FUNCTION_OR_CLASS or SOURCE:NAME of a package)",
                            only));
  if (is_part_of_generation(only)) return model_of_part(only, place);
  return model_of_package(only);
}

bool register_python_model(config::Choice<std::string>& only, flags::Flags& flags) {
  const auto model = python_model_of(only, flags.subject);
  if (!model) return false;
  ModelInfo info;
  info.name = model->name;
  info.family = "python";
  info.python = model->source;
  info.not_trained = model->not_trained;
  info.upstream = model->upstream;
  info.make = [](const ModelOptions&) -> std::shared_ptr<Model> {
    throw std::logic_error("a Python subject has no model in this process");
  };
  register_model(info, model->file.empty() ? only.value.c_str() : model->file.c_str(), 0);
  if (!only.value.starts_with(path_mark) && !only.value.starts_with(module_mark)) {
    flags.package_models.insert(model->name);
    flags.run.exporter = place_exporter(compile::cache_folder(flags.run.cache)).parent_path();
  }
  only.value = model->name;
  return true;
}

}  // namespace torchstone
