#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cases/settings/flags.h"
#include "cases/settings/suite.h"
#include "cases/settings/yaml.h"
#include "models/core/model_registry.h"
#include "models/fastrnns/lstm_options.h"
#include "models/operators/operator_log.h"

namespace torchstone::suite {
namespace {

constexpr int64_t max_inputs = 1'000'000;

std::vector<operators::LoggedOperator> read_logs(const OperatorChoice& choice) {
  std::vector<operators::LoggedOperator> log;
  for (const auto& file : choice.logs) {
    try {
      merge_logs(log, operators::read_operator_log(file));
    } catch (const operators::LogError& error) {
      throw config::ConfigError(error.what());
    }
  }
  return log;
}

// Replaces values of a suite by those of the flags.
OperatorChoice with_flags(OperatorChoice choice, const flags::OperatorFlags& flags) {
  if (!flags.logs.empty()) choice.logs = flags.logs;
  if (!flags.layouts.empty()) choice.layouts = flags.layouts;
  if (flags.max_samples) choice.max_samples = *flags.max_samples;
  if (flags.start_index) choice.start_index = *flags.start_index;
  return choice;
}

void add_input(Suite& suite, const operators::LoggedOperator& logged, size_t index, operators::OperatorLayout layout) {
  const operators::LoggedInput& input = logged.inputs[index];
  ModelInfo info = operator_model_info(logged.name, input, index, layout);
  const config::Place place{input.file, input.line, logged.name};
  suite.models.push_back({info.name, {}, operators::operator_skip_reason(logged.name), place});
  if (!find_model(info.name)) register_model(std::move(info), input.file.c_str(), input.line);
}

void add_log(Suite& suite, const OperatorChoice& choice) {
  for (const auto& logged : read_logs(choice)) {
    const size_t first = static_cast<size_t>(choice.start_index);
    const size_t last = std::min(logged.inputs.size(), first + static_cast<size_t>(choice.max_samples));
    for (const auto layout : choice.layouts)
      for (size_t i = first; i < last; ++i) add_input(suite, logged, i, layout);
  }
}

}  // namespace

OperatorChoice read_operator_choice(const config::Yaml& node, const std::string& folder) {
  require_keys(node, {"logs", "max_samples", "start_index", "layouts"});
  OperatorChoice choice;
  choice.place = node;
  for (const auto& log : list_of(require(node, "logs"))) {
    const auto path = std::filesystem::path(folder) / text_of(log);
    std::error_code error;  // a name may be too long for the file system
    if (!std::filesystem::is_regular_file(path, error))
      fail(log, fmt::format("no such file: {}", path.lexically_normal().string()));
    choice.logs.push_back(path.lexically_normal().string());
  }
  if (choice.logs.empty()) fail(require(node, "logs"), "an empty list (expected at least one log)");
  if (const config::Yaml* value = node.find("max_samples"))
    choice.max_samples = static_cast<int>(integer_of(*value, 1, max_inputs));
  if (const config::Yaml* value = node.find("start_index"))
    choice.start_index = static_cast<int>(integer_of(*value, 0, max_inputs));
  if (const config::Yaml* value = node.find("layouts")) {
    choice.layouts.clear();
    for (const auto& item : list_of(*value)) choice.layouts.push_back(layout_of(item));
    if (choice.layouts.empty()) fail(*value, "an empty list (expected recorded or channels_last)");
  }
  return choice;
}

void add_operators(std::vector<Suite>& suites, const flags::Flags& flags) {
  for (auto& suite : suites) {
    const bool selected = flags.suites.empty() || contains(flags.suites, suite.name);
    if (suite.operators && selected) add_log(suite, with_flags(*suite.operators, flags.operators));
  }
}

std::set<std::string> operator_suites(const std::vector<Suite>& suites) {
  std::set<std::string> names;
  for (const auto& suite : suites)
    if (suite.operators) names.insert(suite.name);
  return names;
}

/// Adds a suite for each suite name of a model that no file describes, with the rows of the suite for files.
void add_private_suites(std::vector<Suite>& suites) {
  const auto of_files = std::ranges::find(suites, true, &Suite::own_files);
  if (of_files == suites.end()) return;
  Suite rows = *of_files;
  rows.own_files = false;
  for (auto& row : rows.rows) {
    row.axes.own_dtype.reset();
    if (row.axes.dtypes.empty()) row.axes.dtypes = {{DType::float32, row.place}};
  }
  const size_t described = suites.size();
  for (const ModelInfo* info : all_models()) {
    for (const auto& name : info->suites) {
      auto suite = std::ranges::find(suites, name, &Suite::name);
      if (suite != suites.end() && suite - suites.begin() < static_cast<std::ptrdiff_t>(described)) continue;
      if (suite == suites.end()) {
        rows.name = name;
        suite = suites.insert(suites.end(), rows);
      }
      suite->models.push_back({info->name, {}, std::nullopt, {info->file, info->line, info->name}});
    }
  }
}

void prepare_models(std::vector<Suite>& suites, const flags::Flags& flags) {
  fastrnns::recurrent_flags() = flags.fastrnns.sizes;
  fastrnns::set_executor(flags.fastrnns.fuser, flags.fastrnns.executor);
  add_operators(suites, flags);
  if (flags.suites_folder.empty()) add_private_suites(suites);
}

}  // namespace torchstone::suite
