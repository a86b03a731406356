#include <algorithm>
#include <filesystem>
#include <iterator>
#include <type_traits>

#include <fmt/format.h>

#include "cases/selection/expand.h"
#include "cases/settings/yaml.h"
#include "fixtures/backends/catalogue.h"
#include "fixtures/core/check_registry.h"
#include "models/core/model_registry.h"
#include "models/formats/model_file.h"

namespace torchstone::selection {
namespace {

// Adds a model that is selected by name to rows that list other models only to keep the default set small. Excludes the
// control (eager against eager), rows with settings for their models, and checks that have a row for the model.
void run_all_rows(suite::Suite& suite, const std::string& model) {
  const auto compiles = [](const auto& backend) { return backend.value.name != "eager"; };
  const auto shares_check = [](const suite::Row& a, const suite::Row& b) {
    return std::ranges::any_of(a.axes.checks, [&](const auto& check) { return contains(b.axes.checks, check.value); });
  };
  const auto rows = suite.rows;
  for (auto& row : suite.rows) {
    const bool has_own_row = std::ranges::any_of(
        rows, [&](const suite::Row& other) { return contains(other.models, model) && shares_check(row, other); });
    if (row.models.empty() || !row.settings.empty() || has_own_row || std::ranges::none_of(row.axes.backends, compiles))
      continue;
    row.models.clear();
    row.widened = true;  // rows that split the models of one combination now make the same cases
  }
}

/// Keeps the suites for files if `only` is a file, the suites for Python modules if it is one, and otherwise all other
/// suites.
void keep_suites_for(const config::Choice<std::string>& only, const ModelInfo& model,
                     std::vector<suite::Suite>& suites) {
  const bool module = !model.python.empty(), file = !module && only_is_file(only.value);
  std::erase_if(suites,
                [&](const suite::Suite& suite) { return suite.own_files != file || suite.own_modules != module; });
  if (!suites.empty()) return;
  fail(only.place,
       module
           ? "a Python module needs a suite with the key own_modules, such as the program's suite python, and none is "
             "selected"
       : file ? "a file needs a suite with the key own_files, such as the program's suite own, and none is selected"
              : "suites with the key own_files or own_modules run models of --torchstone_only, and no other suite is "
                "selected");
}

bool is_expectation(const config::Settings::value_type& setting) {
  return setting.first == "expected" || setting.first == "reason" || setting.first == "max_error";
}

// Reduces an axis of the rows of one check to the given values.
template <typename T>
std::vector<suite::Row> select(const std::vector<suite::Row>& rows, config::Choices<T> config::Axes::*axis,
                               const config::Choices<T>& given) {
  if (given.empty() || rows.empty()) return rows;
  std::vector<suite::Row> selected;
  for (suite::Row row : rows) {
    std::erase_if(row.axes.*axis, [&](const auto& choice) { return !contains(given, choice.value); });
    if (!(row.axes.*axis).empty()) selected.push_back(std::move(row));
  }
  // A value that no row has is added to every row. Rows for some models only do not count, because the other models
  // lack the value.
  config::Choices<T> added;
  for (const auto& choice : given) {
    const bool had = std::ranges::any_of(
        rows, [&](const suite::Row& row) { return row.models.empty() && contains(row.axes.*axis, choice.value); });
    if (!had && !contains(added, choice.value)) added.push_back(choice);
  }
  if (added.empty()) return selected;
  for (suite::Row row : rows) {
    row.axes.*axis = added;
    row.widened = true;
    // Expected failures hold for the row's own values, so they are dropped, except if only the preset changes.
    if constexpr (!std::is_same_v<T, Preset>) std::erase_if(row.settings, is_expectation);
    selected.push_back(std::move(row));
  }
  return selected;
}

std::vector<suite::Row> rows_with_check(const std::vector<suite::Row>& rows, const std::string& check) {
  std::vector<suite::Row> found;
  for (suite::Row row : rows) {
    std::erase_if(row.axes.checks, [&](const auto& choice) { return choice.value != check; });
    if (!row.axes.checks.empty()) found.push_back(std::move(row));
  }
  return found;
}

/// Returns the rows of a check. A check that no row names runs on the rows of the check whose policy it shares, without
/// their expectations.
std::vector<suite::Row> rows_for(const std::vector<suite::Row>& rows, const config::Choice<std::string>& check) {
  const CheckInfo* info = find_check(check.value);
  if (!info)
    fail(check.place,
         fmt::format("unknown check {} ({})", check.value, config::expected_one_of(check.value, check_names())));
  auto found = rows_with_check(rows, info->name);
  if (!found.empty()) return found;
  found = rows_with_check(rows, info->policy);
  for (suite::Row& row : found) {
    row.axes.checks = {check};
    row.widened = true;
    std::erase_if(row.settings, is_expectation);
  }
  return found;
}

template <typename T>
void unite(config::Choices<T>& all, const config::Choices<T>& more) {
  for (const auto& choice : more)
    if (!contains(all, choice.value)) all.push_back(choice);
}

}  // namespace

const ModelInfo* Known::model(const std::string& name) const {
  for (const auto* info : models)
    if (info->name == name) return info;
  return nullptr;
}

Known known_here() { return {all_models(), backend_names(), {}}; }

const ModelInfo& require_model(const Known& known, const std::string& name, const config::Place& place) {
  if (const ModelInfo* info = known.model(name)) return *info;
  fail(place, fmt::format("unknown model {} ({})", name,
                          config::expected_one_of(name, config::texts_of(known.models, &ModelInfo::name))));
}

void require_backends(const Known& known, const config::Choices<BackendSpec>& choices, bool of_python_module) {
  for (const auto& [backend, place] : choices) {
    require_known(place, backend.name, known.backends, "unknown backend " + backend.name);
    if (const auto fault = wrong_option(backend, of_python_module))
      fail(place, fmt::format("backend {}: {}", backend.name, *fault));
  }
}

bool only_is_file(const std::string& only) { return formats::is_model_file(only); }

std::string only_model(const std::string& only) {
  if (!only_is_file(only)) return only;
  const std::string name = formats::model_name_of(only);
  const ModelInfo* taken = find_model(name);
  return taken != nullptr && taken->file != only ? name + "_file" : name;
}

namespace {

/// Reduces the suites to one model of --torchstone_only.
std::vector<suite::Suite> suites_of(const config::Choice<std::string>& only, const Known& known,
                                    std::vector<suite::Suite> suites) {
  const std::string name = only_model(only.value);
  std::error_code ignored;  // the name may be too long for the file system
  if (known.model(name) == nullptr && std::filesystem::is_directory(name, ignored))
    fail(only.place, fmt::format("{}: a folder without a program (expected eval.pt2, train.pt2 or both)", name));
  if (known.model(name) == nullptr && name.find_first_of(",;") != std::string::npos)
    fail(only.place, fmt::format("unknown model {} (expected one model; give --torchstone_only several times for "
                                 "several models)",
                                 name));
  const ModelInfo& info = require_model(known, name, only.place);
  keep_suites_for(only, info, suites);
  for (auto& suite : suites) {
    std::erase_if(suite.models, [&](const suite::SuiteModel& model) { return model.name != name; });
    run_all_rows(suite, name);
  }
  if (std::ranges::any_of(suites, [](const suite::Suite& suite) { return !suite.models.empty(); })) return suites;
  // No suite lists the model. It gets the rows of a suite that its registration names, or else of the first suite.
  auto home = std::ranges::find_if(suites, [&](const suite::Suite& suite) {
    return std::ranges::find(info.suites, suite.name) != info.suites.end();
  });
  if (home == suites.end()) home = suites.begin();
  home->models.push_back({name, {}, std::nullopt, {info.file, info.line, name}});
  return {*home};
}

}  // namespace

std::vector<suite::Suite> chosen_suites(const std::vector<suite::Suite>& all, const Known& known,
                                        const flags::Flags& flags) {
  const auto names = config::texts_of(all, &suite::Suite::name);
  for (const auto& [name, place] : flags.suites) require_known(place, name, names, "unknown suite " + name);
  std::vector<suite::Suite> chosen;
  for (const auto& suite : all)
    if (flags.suites.empty() || contains(flags.suites, suite.name)) chosen.push_back(suite);
  if (flags.only.empty() || chosen.empty()) return chosen;
  std::vector<suite::Suite> of_models;
  for (const auto& only : flags.only) std::ranges::move(suites_of(only, known, chosen), std::back_inserter(of_models));
  return of_models;
}

std::vector<suite::Row> full_matrix(std::vector<suite::Row> rows, const config::Place& place) {
  suite::Row full;
  full.place = place;
  full.widened = true;
  full.axes.modes = {{Mode::inference, place}, {Mode::training, place}};
  full.axes.dtypes = {{DType::float32, place}, {DType::bfloat16, place}, {DType::float16, place}, {DType::amp, place}};
  for (const suite::Row& row : rows) {
    unite(full.axes.checks, row.axes.checks);
    unite(full.axes.backends, row.axes.backends);
    unite(full.axes.devices, row.axes.devices);
    unite(full.axes.presets, row.axes.presets);
    unite(full.axes.dynamic, row.axes.dynamic);
  }
  std::erase_if(full.axes.backends, [](const auto& choice) { return choice.value.name == "eager"; });
  if (!full.axes.backends.empty()) rows.push_back(std::move(full));
  return rows;
}

std::vector<suite::Row> select_rows(const std::vector<suite::Row>& rows, const config::Axes& given) {
  config::Choices<std::string> checks = given.checks;
  if (checks.empty())
    for (const suite::Row& row : rows) unite(checks, row.axes.checks);
  std::ranges::stable_sort(checks, {}, &config::Choice<std::string>::value);
  std::vector<suite::Row> selected;
  for (const auto& check : checks) {
    auto of_check = rows_for(rows, check);
    of_check = select(of_check, &config::Axes::modes, given.modes);
    of_check = select(of_check, &config::Axes::dtypes, given.dtypes);
    if (!given.dtypes.empty())
      for (suite::Row& row : of_check) row.axes.own_dtype.reset();
    of_check = select(of_check, &config::Axes::backends, given.backends);
    of_check = select(of_check, &config::Axes::devices, given.devices);
    of_check = select(of_check, &config::Axes::presets, given.presets);
    of_check = select(of_check, &config::Axes::dynamic, given.dynamic);
    selected.insert(selected.end(), of_check.begin(), of_check.end());
  }
  return selected;
}

}  // namespace torchstone::selection
