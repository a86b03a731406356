#include "cases/main/python_model.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
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

std::string name_for(std::string_view text) {
  std::string name(text);
  const auto is_word = [](unsigned char letter) { return std::isalnum(letter) != 0; };
  std::ranges::replace_if(
      name, [&](char letter) { return !is_word(static_cast<unsigned char>(letter)); }, '_');
  if (find_model(name) != nullptr) name += "_python";
  return name;
}

PythonModel model_of_path(const std::string& only, const config::Place& place) {
  const auto comma = only.rfind(class_mark);
  const std::string name = comma == std::string::npos ? "" : only.substr(comma + class_mark.size());
  if (name.empty()) fail(place, fmt::format("'{}' names no class (expected path:FILE.py,class:NAME)", only));
  const std::string file = only.substr(path_mark.size(), comma - path_mark.size());
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) fail(place, fmt::format("{}: no such file", file));
  return {only, name_for(name)};
}

PythonModel model_of_module(const std::string& only, const config::Place& place) {
  const auto colon = only.find(':', module_mark.size());
  if (colon == std::string::npos || colon == module_mark.size() || colon + 1 == only.size())
    fail(place, fmt::format("'{}' names no function (expected module:PACKAGE.MODULE:FUNCTION_OR_CLASS)", only));
  return {only, name_for(std::string_view(only).substr(colon + 1))};
}

}  // namespace

std::optional<PythonModel> python_model_of(const flags::Flags& flags) {
  const std::string& only = flags.only;
  if (only.starts_with(path_mark)) return model_of_path(only, flags.only_place);
  if (only.starts_with(module_mark)) return model_of_module(only, flags.only_place);
  if (flags.subject != flags::SubjectKind::python) return std::nullopt;
  if (!is_named_model(only))
    fail(flags.only_place, fmt::format("'{}' is not a Python module (expected path:FILE.py,class:NAME, "
                                       "module:PACKAGE.MODULE:FUNCTION_OR_CLASS or SOURCE:NAME of a package)",
                                       only));
  return PythonModel{only, name_for(std::string_view(only).substr(only.find(':') + 1))};
}

bool register_python_model(flags::Flags& flags) {
  const auto model = python_model_of(flags);
  if (!model) return false;
  ModelInfo info;
  info.name = model->name;
  info.family = "python";
  info.python = model->source;
  info.make = [](const ModelOptions&) -> std::shared_ptr<Model> {
    throw std::logic_error("a Python subject has no model in this process");
  };
  register_model(info, flags.only.c_str(), 0);
  if (!flags.only.starts_with(path_mark) && !flags.only.starts_with(module_mark))
    flags.run.exporter = place_exporter(compile::cache_folder(flags.run.cache)).parent_path();
  flags.only = model->name;
  return true;
}

}  // namespace torchstone
