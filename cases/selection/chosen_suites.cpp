#include <algorithm>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "cases/selection/expand.h"
#include "models/core/registry.h"
#include "models/formats/model_file.h"

namespace torchstone::selection {
namespace {

// Rows that are kept to some models for brevity are there for a model that is asked for by name. Not so the control,
// eager against eager, rows that hold settings for their models, and checks of which the model has a row of its own.
void run_all_rows(suite::Suite& suite, const std::string& model) {
  const auto compiles = [](const auto& backend) { return backend.value.name != "eager"; };
  const auto shares_check = [](const suite::Row& a, const suite::Row& b) {
    return std::ranges::any_of(a.axes.checks, [&](const auto& check) { return contains(b.axes.checks, check.value); });
  };
  const auto rows = suite.rows;
  for (auto& row : suite.rows) {
    const bool of_its_own = std::ranges::any_of(
        rows, [&](const suite::Row& other) { return contains(other.models, model) && shares_check(row, other); });
    if (row.models.empty() || !row.settings.empty() || of_its_own || std::ranges::none_of(row.axes.backends, compiles))
      continue;
    row.models.clear();
    row.widened = true;  // rows that share out the models of one combination now meet
  }
}

/// A file runs by the rows of suites for files and of no others; a model by those of the others.
void keep_suites_for(const flags::Flags& flags, std::vector<suite::Suite>& suites) {
  const bool file = only_is_file(flags);
  std::erase_if(suites, [&](const suite::Suite& suite) { return suite.own_files != file; });
  if (suites.empty())
    fail(flags.only_place, file ? "a file runs by the rows of a suite with the key own_files, as the program's suite "
                                  "own, and none is chosen"
                                : "suites with the key own_files run files alone, and no other is chosen");
}

}  // namespace

bool only_is_file(const flags::Flags& flags) { return formats::is_model_file(flags.only); }

std::string only_model(const flags::Flags& flags) {
  if (!only_is_file(flags)) return flags.only;
  const std::string name = formats::model_name_of(flags.only);
  const ModelInfo* taken = find_model(name);
  return taken != nullptr && taken->file != flags.only ? name + "_file" : name;
}

std::vector<suite::Suite> chosen_suites(const std::vector<suite::Suite>& all, const Known& known,
                                        const flags::Flags& flags) {
  std::vector<std::string> names;
  for (const auto& suite : all) names.push_back(suite.name);
  for (const auto& [name, place] : flags.suites)
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(place, fmt::format("unknown suite {} ({})", name, config::expected_one_of(name, names)));
  std::vector<suite::Suite> chosen;
  for (const auto& suite : all)
    if (flags.suites.empty() || contains(flags.suites, suite.name)) chosen.push_back(suite);
  if (flags.only.empty() || chosen.empty()) return chosen;

  keep_suites_for(flags, chosen);
  const std::string only = only_model(flags);
  const ModelInfo& info = require_model(known, only, flags.only_place);
  for (auto& suite : chosen) {
    std::erase_if(suite.models, [&](const suite::SuiteModel& model) { return model.name != only; });
    run_all_rows(suite, only);
  }
  if (std::any_of(chosen.begin(), chosen.end(), [](const suite::Suite& suite) { return !suite.models.empty(); }))
    return chosen;
  // In no suite's list: it runs by the rows of a suite that it says it belongs to, else of the first.
  auto home = std::find_if(chosen.begin(), chosen.end(), [&](const suite::Suite& suite) {
    return std::find(info.suites.begin(), info.suites.end(), suite.name) != info.suites.end();
  });
  if (home == chosen.end()) home = chosen.begin();
  home->models.push_back({only, {}, std::nullopt, {info.file, info.line, only}});
  return {*home};
}

}  // namespace torchstone::selection
