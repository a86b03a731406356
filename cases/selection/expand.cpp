#include "cases/selection/expand.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "fixtures/backends/catalogue.h"
#include "models/core/registry.h"

namespace torchstone::selection {
namespace {

std::vector<std::string> names_of(const std::vector<const ModelInfo*>& models) {
  std::vector<std::string> names;
  for (const auto* model : models) names.push_back(model->name);
  return names;
}

const ModelInfo& require_model(const Known& known, const std::string& name, const config::Place& place) {
  if (const ModelInfo* info = known.model(name)) return *info;
  fail(place, fmt::format("unknown model {} ({})", name, config::expected_one_of(name, names_of(known.models))));
}

void check_backends(const config::Choices<BackendSpec>& choices, const Known& known) {
  for (const auto& [backend, place] : choices) {
    if (std::find(known.backends.begin(), known.backends.end(), backend.name) == known.backends.end())
      fail(place,
           fmt::format("unknown backend {} ({})", backend.name, config::expected_one_of(backend.name, known.backends)));
  }
}

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

// The suites that run, with --torchstone_suite and --torchstone_only applied.
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

class Expander {
 public:
  Expander(const Known& known, const flags::Flags& flags) : known_(known), flags_(flags) {}

  void add_row(const suite::Suite& suite, const suite::Row& row) {
    const config::Axes& axes = row.axes;
    for (const auto& check : axes.checks)
      for (const auto& model : suite.models)
        if (row_has(row, model.name))
          for (const auto& mode : axes.modes)
            for (const auto& dtype : axes.dtypes)
              for (const auto& backend : axes.backends)
                for (const auto& device : axes.devices)
                  for (const auto& preset : axes.presets)
                    add_case(suite, row, model, {{check}, {mode}, {dtype}, {backend}, {device}, {preset}});
  }

  Expansion take() { return std::move(expansion_); }

 private:
  static bool row_has(const suite::Row& row, const std::string& model) {
    return (row.models.empty() || contains(row.models, model)) && !contains(row.except, model);
  }

  // `one` holds exactly one value on each axis.
  void add_case(const suite::Suite& suite, const suite::Row& row, const suite::SuiteModel& model,
                const config::Axes& one) {
    const ModelInfo& info = require_model(known_, model.name, model.place);
    Case c;
    const auto set = [&c](const char* name, auto& field, const auto& choices) {
      field = choices.front().value;
      c.origin[name] = origin_of(choices.front().place);
    };
    c.suite = suite.name;
    c.origin["suite"] = origin_of(suite.place);
    c.model = model.name;
    c.origin["model"] = origin_of(model.place);
    set("check", c.check, one.checks);
    set("mode", c.mode, one.modes);
    set("dtype", c.dtype, one.dtypes);
    set("backend", c.backend, one.backends);
    set("device", c.device, one.devices);
    set("preset", c.preset, one.presets);
    c.file = model.place.file;
    c.line = model.place.line;

    if (model.skip) return skip(c, {fmt::format("{} (suite)", *model.skip), origin_of(model.place)});
    if (const auto out = left_out(suite.policy, policy::conditions_of(c))) return skip(c, *out);
    const DType asked = c.dtype;
    apply_policy(suite.policy, info, c);
    for (const auto* settings : {&suite.defaults, &row.settings, &model.settings}) apply_settings(*settings, c);
    if (const auto own = flags_.batch_sizes.find(c.model); own != flags_.batch_sizes.end() && !info.fixed_batch)
      set("batch_size", c.batch_size, config::Choices<int64_t>{own->second});
    apply_settings(flags_.overrides, c);

    const std::string name = name_of(c);
    const auto [earlier, fresh] = registered_.try_emplace(name, c.model, row.place, asked != c.dtype);
    if (fresh) return expansion_.cases.push_back(std::move(c));
    if (row.widened) return;
    // A forced dtype may meet the same case asked for directly: then there is only one to run.
    if (earlier->second.forced || asked != c.dtype)
      return skip(c, {fmt::format("the policy runs it as {}, which is registered already", to_string(c.dtype)),
                      c.origin["dtype"]});
    fail(row.place,
         earlier->second.model == c.model
             ? fmt::format("the case {} is registered twice (first by {})", name, origin_of(earlier->second.row))
             : fmt::format("the models {} and {} get the same name {}", earlier->second.model, c.model, name));
  }

  void skip(const Case& c, const policy::Decision& decision) {
    expansion_.skipped.push_back({name_of(c), decision.reason, decision.origin});
  }

  struct Registered {
    Registered(std::string model_name, config::Place row_place, bool forced_dtype)
        : model(std::move(model_name)), row(std::move(row_place)), forced(forced_dtype) {}
    std::string model;
    config::Place row;
    bool forced;
  };
  const Known& known_;
  const flags::Flags& flags_;
  std::map<std::string, Registered> registered_;
  Expansion expansion_;
};

}  // namespace

const ModelInfo* Known::model(const std::string& name) const {
  for (const auto* info : models)
    if (info->name == name) return info;
  return nullptr;
}

Known known_here() { return {all_models(), backend_names()}; }

bool only_is_file(const flags::Flags& flags) { return flags.only.ends_with(".pt"); }

std::string only_model(const flags::Flags& flags) {
  if (!only_is_file(flags)) return flags.only;
  std::string name = std::filesystem::path(flags.only).stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name.empty() ? "model" : name;
}

Expansion expand(const std::vector<suite::Suite>& suites, const Known& known, const flags::Flags& flags) {
  // A mistake in a part that flags leave out is still a mistake.
  for (const auto& suite : suites) {
    for (const auto& model : suite.models) require_model(known, model.name, model.place);
    for (const auto& row : suite.rows) check_backends(row.axes.backends, known);
  }
  check_backends(flags.axes.backends, known);
  Expander expander(known, flags);
  for (const auto& suite : chosen_suites(suites, known, flags)) {
    const auto rows = flags.full_matrix ? full_matrix(suite.rows, *flags.full_matrix) : suite.rows;
    for (const auto& row : select_rows(rows, flags.axes)) expander.add_row(suite, row);
  }
  return expander.take();
}

void require_cases(const Expansion& expansion) {
  if (!expansion.cases.empty()) return;
  throw NothingSelected(
      fmt::format("nothing to run: the suites and flags leave no case ({} left out, see --torchstone_list=skipped)",
                  expansion.skipped.size()));
}

}  // namespace torchstone::selection
