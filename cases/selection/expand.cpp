#include "cases/selection/expand.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "cases/selection/tournament_variants.h"
#include "fixtures/core/check_registry.h"
#include "fixtures/isolate/compile_ahead.h"

namespace torchstone::selection {
namespace {

/// Applies a setting that the policy depends on, before the policy is applied.
void apply_ahead(const std::string& key, const config::Settings& settings, Case& c) {
  for (const auto& setting : settings)
    if (setting.first == key) config::apply_settings({setting}, c);
}

/// Returns the name of the case that the suite asks for, before the policy, the device or a flag changes its settings.
std::string name_as_asked(Case c, std::initializer_list<const config::Settings*> of_suite) {
  for (const auto* settings : of_suite) apply_ahead("cuda_graphs", *settings, c);
  return name_of(c);
}

constexpr const char* how_to_export =
    " (export it with one: torch.export.export(model, inputs, dynamic_shapes=({0: torch.export.Dim(\"batch\")},)))";

/// Tells why a case of dynamic sizes is not registered; empty when it is.
std::optional<policy::Decision> not_dynamic(const policy::Policy& policy, const ModelInfo& info, const Case& c) {
  if (c.dynamic == Dynamic::off) return std::nullopt;
  if (const CheckInfo& check = check_info(c); !check.dynamic)
    return policy::Decision{fmt::format("the check {} does not support dynamic sizes", c.check), check.file};
  if (!batch_is_fixed(policy, info)) return std::nullopt;
  const bool all = c.dynamic == Dynamic::all;
  if (all && info.dimensions_alone) return std::nullopt;
  std::string why = all                     ? "its batch size is fixed, and it declares no other dynamic size"
                    : info.dimensions_alone ? "its batch size is fixed; --torchstone_dynamic=all varies its other sizes"
                                            : "its batch size is fixed, so it has no dynamic sizes";
  if (info.file.ends_with(".pt2")) why += how_to_export;
  return policy::Decision{why, fmt::format("{}:{}", info.file, info.line)};
}

/// Applies the settings of one level of a suite. An expected status also replaces the bound (max_error) of the level
/// above.
void apply_level(const config::Settings& settings, Case& c) {
  const auto is_status = [](const auto& setting) { return setting.first == "expected"; };
  if (std::ranges::any_of(settings, is_status)) {
    c.max_error.reset();
    c.origin.erase("max_error");
  }
  apply_settings(settings, c);
}

/// Moves the batch size of a dynamic case into its range, unless it is fixed. If the Python module decides the batch
/// size, the module's process moves it too.
void clamp_batch_size(Case& c) {
  if (c.dynamic == Dynamic::off || c.fixed_batch) return;
  const int64_t nearest = std::clamp(c.batch_size, c.dynamic_range.minimum, c.dynamic_range.maximum);
  if (c.batch_source == BatchSource::module) {
    c.batch_size = nearest;
    c.origin["batch_size"] += ", moved into dynamic_range " + to_string(c.dynamic_range);
    return;
  }
  if (nearest == c.batch_size) return;
  c.origin["batch_size"] = fmt::format("nearest of dynamic_range {} to {}, by {}", to_string(c.dynamic_range),
                                       c.batch_size, c.origin["batch_size"]);
  c.batch_size = nearest;
}

/// Adds the policy's rules for the case if its module computes in float16. Other narrow dtypes have the same rule for
/// NaN.
void add_rules_of_narrow_dtypes(const policy::Policy& policy, const ModelInfo& info, Case& c) {
  Case narrow = c;
  apply_policy(policy, info, narrow, DType::float16);
  c.float16_tolerance = narrow.tolerance;
  c.narrow_equal_nan = narrow.equal_nan;
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
            for (const auto& dtype : dtypes_of(axes, model.name))
              for (const auto& backend : axes.backends)
                for (const auto& device : axes.devices)
                  for (const auto& preset : axes.presets)
                    for (const auto& dynamic : axes.dynamic)
                      add_case(suite, row, model, {{check}, {mode}, {dtype}, {backend}, {device}, {preset}, {dynamic}});
  }

  Expansion take() { return std::move(expansion_); }

 private:
  static bool row_has(const suite::Row& row, const std::string& model) {
    return (row.models.empty() || contains(row.models, model)) && !contains(row.except, model);
  }

  OwnDtype own_dtype_of(const std::string& model) const {
    const auto own = known_.dtypes.find(model);
    return own == known_.dtypes.end() ? OwnDtype() : own->second;
  }

  /// Returns the dtypes of a row, with the file's own if the row has `own`.
  config::Choices<DType> dtypes_of(const config::Axes& axes, const std::string& model) const {
    config::Choices<DType> dtypes = axes.dtypes;
    const DType dtype = own_dtype_of(model).dtype;
    if (axes.own_dtype && !contains(dtypes, dtype)) dtypes.push_back({dtype, *axes.own_dtype});
    return dtypes;
  }

  // Adds or skips the case of one combination: `one` holds exactly one value on each axis.
  void add_case(const suite::Suite& suite, const suite::Row& row, const suite::SuiteModel& model,
                const config::Axes& one) {
    const ModelInfo& info = require_model(known_, model.name, model.place);
    const policy::Policy& policy = suite.policy_of(info);
    const DType loosest = own_dtype_of(model.name).loosest;
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
    set("dynamic", c.dynamic, one.dynamic);
    c.file = model.place.file;
    c.line = model.place.line;

    if (c.mode == Mode::training && !info.not_trained.empty() && flags_.axes.modes.empty())
      return skip(c, {info.not_trained, info.file});
    if (model.skip) return skip(c, {fmt::format("{} (suite)", *model.skip), origin_of(model.place)});
    for (const auto* settings : {&suite.defaults, &row.settings, &model.settings, &flags_.overrides})
      apply_ahead("ci", *settings, c);
    policy::Conditions conditions = policy::conditions_of(c, info, loosest);
    conditions.fast = flags_.fast;
    conditions.no_skip = flags_.no_skip;
    const auto listed = skipped_by_list(policy, conditions);
    if (const auto out = exclusion(policy, conditions)) return skip(c, *out, listed && !conditions.no_skip);
    if (listed) {
      c.skip_override = listed->reason;
      c.origin["skip_override"] = listed->origin;
    }
    if (const auto out = not_dynamic(policy, info, c)) return skip(c, *out);
    const std::string asked = name_as_asked(c, {&suite.defaults, &row.settings, &model.settings});
    apply_policy(policy, info, c, loosest);
    const std::string policy_tolerance = c.origin["tolerance"], policy_equal_nan = c.origin["equal_nan"];
    if (!info.python.empty() && c.dtype == DType::as_written) add_rules_of_narrow_dtypes(policy, info, c);
    const policy::BatchSize fixed{c.batch_size, c.origin["batch_size"], c.batch_source};
    if (flags_.full_matrix && c.check == "accuracy")
      set("judge", c.judge, config::Choices<Judge>{{Judge::both, *flags_.full_matrix}});
    for (const auto* settings : {&suite.defaults, &row.settings, &model.settings}) apply_level(*settings, c);
    policy::leave_out_cuda_graphs(c);
    if (const auto own = flags_.batch_sizes.find(c.model); own != flags_.batch_sizes.end()) {
      set("batch_size", c.batch_size, config::Choices<int64_t>{own->second});
      c.batch_source = BatchSource::stated;
    }
    apply_settings(flags_.overrides, c);
    c.fixed_batch = batch_is_fixed(policy, info);
    if (c.fixed_batch && c.origin["batch_size"] != fixed.origin) {
      c.batch_size = fixed.size;
      c.batch_source = fixed.source;
      c.origin["batch_size"] = fmt::format("{}, fixed: not by {}", fixed.origin, c.origin["batch_size"]);
    }

    if (c.origin["tolerance"] != policy_tolerance) c.float16_tolerance.reset();
    if (c.origin["equal_nan"] != policy_equal_nan) c.narrow_equal_nan.reset();
    clamp_batch_size(c);
    if (c.cold_start_latency && !c.origin.contains("use_warm_peak_memory")) {
      c.use_warm_peak_memory = false;
      c.origin["use_warm_peak_memory"] = "cold_start_latency, by " + c.origin["cold_start_latency"];
    }
    apply_disable_cudagraph(policy, info, c);
    if (const auto out = not_exported(policy, policy::conditions_of(c, info, loosest)); out && c.upstream_semantics)
      return skip(c, *out);

    const std::string name = name_of(c);
    const auto [found, fresh] = registered_.try_emplace(name, Registered{c.model, row.place, asked});
    Registered& first = found->second;
    const bool new_name = first.all_asked.insert(asked).second;
    if (fresh) return expansion_.cases.push_back(std::move(c));
    // A forced dtype, or an option that the policy adds, may produce a case that another row asks for directly.
    if (first.model == c.model && new_name)
      return expansion_.skipped.push_back(
          {asked,
           fmt::format("a policy, the device or a flag makes it the same case as {}: both are {}", first.asked, name),
           origin_of(first.row)});
    if (row.widened) return;
    fail(row.place, first.model == c.model
                        ? fmt::format("the case {} is registered twice (first by {})", name, origin_of(first.row))
                        : fmt::format("the models {} and {} get the same name {}", first.model, c.model, name));
  }

  void skip(const Case& c, const policy::Decision& decision, bool by_list = false) {
    expansion_.skipped.push_back({name_of(c), decision.reason, decision.origin, by_list});
  }

  struct Registered {
    std::string model;
    config::Place row;
    std::string asked;                  ///< name_as_asked()
    std::set<std::string> all_asked{};  ///< also the names of skipped cases
  };
  const Known& known_;
  const flags::Flags& flags_;
  std::map<std::string, Registered> registered_;
  Expansion expansion_;
};

/// Returns each combination of the values in flags.sweeps. Without sweeps there is a single, empty one.
std::vector<config::Settings> combinations_of(const flags::Flags& flags) {
  std::vector<config::Settings> combinations{{}};
  for (const auto& [key, values] : flags.sweeps) {
    std::vector<config::Settings> longer;
    for (const auto& combination : combinations)
      for (const auto& value : values) {
        longer.push_back(combination);
        longer.back().emplace_back(key, value);
      }
    combinations = std::move(longer);
  }
  return combinations;
}

flags::Flags with_settings(flags::Flags flags, const config::Settings& settings) {
  for (const auto& [key, value] : settings) {
    std::erase_if(flags.overrides, [&, &swept = key](const auto& setting) { return setting.first == swept; });
    flags.overrides.emplace_back(key, value);
  }
  return flags;
}

std::string name_of_combination(const config::Settings& settings) {
  std::string name;
  for (const auto& [key, value] : settings) name += fmt::format("{}{}_{}", name.empty() ? "" : "_", key, value.text);
  return name;
}

/// Marks accuracy cases of a user's model that can use the package compiled for performance, because both need the
/// same program. On an accelerator the programs differ, because accuracy turns off TF32. Models of the zoo are judged
/// with deterministic algorithms, as in upstream's harness, so they do not share.
void share_timed_packages(std::vector<Case>& cases, const Known& known) {
  const auto may_share = [&](const Case& c) {
    const bool is_own = std::ranges::count(known.model(c.model)->suites, "own") > 0;
    return is_own && c.device == "cpu" && c.backend.name == "inductor" && !c.deterministic && !c.upstream_semantics;
  };
  const auto timed_program_of = [](Case c) {
    c.check = "performance";
    return isolate::program_of(c);
  };
  std::set<std::string> timed;
  for (const Case& c : cases)
    if (c.check == "performance" && may_share(c)) timed.insert(timed_program_of(c));
  timed.erase("");  // program_of() is empty for cases that need no program
  for (Case& c : cases)
    c.shares_timed_package = c.check == "accuracy" && may_share(c) && timed.contains(timed_program_of(c));
}

}  // namespace

Expansion expand(const std::vector<suite::Suite>& suites, const Known& known, const flags::Flags& flags) {
  // Reports errors also in rows and models that flags exclude.
  for (const auto& suite : suites) {
    for (const auto& model : suite.models) require_model(known, model.name, model.place);
    for (const auto& row : suite.rows) require_backends(known, row.axes.backends, suite.own_modules);
  }
  const auto is_module = [&](const config::Choice<std::string>& only) {
    const ModelInfo* info = known.model(only.value);
    return info != nullptr && !info->python.empty();
  };
  const auto modules = static_cast<size_t>(std::ranges::count_if(flags.only, is_module));
  if (modules == 0 || modules < flags.only.size()) require_backends(known, flags.axes.backends, false);
  if (modules > 0) require_backends(known, flags.axes.backends, true);
  Expansion all;
  std::set<std::tuple<std::string, int64_t, int>> seen;
  for (const auto& combination : combinations_of(flags)) {
    const flags::Flags swept = with_settings(flags, combination);
    Expander expander(known, swept);
    for (const auto& suite : chosen_suites(suites, known, swept)) {
      const auto rows = flags.full_matrix ? full_matrix(suite.rows, *flags.full_matrix) : suite.rows;
      for (const auto& row : select_rows(rows, flags.axes)) expander.add_row(suite, row);
    }
    Expansion one = expander.take();
    if (seen.empty()) all.skipped = std::move(one.skipped);
    for (Case& c : one.cases) {
      const bool fresh = seen.emplace(name_of(c), c.batch_size, c.threads).second;
      c.sweep = name_of_combination(combination);
      if (fresh)
        all.cases.push_back(std::move(c));
      else
        all.skipped.push_back({name_of(c), fmt::format("another combination has batch size {} already", c.batch_size),
                               c.origin["batch_size"]});
    }
  }
  share_timed_packages(all.cases, known);
  time_separately(all.cases);
  return all;
}

void require_cases(const Expansion& expansion) {
  if (!expansion.cases.empty()) return;
  std::set<std::string> reasons;
  for (const auto& skipped : expansion.skipped) reasons.insert(skipped.reason);
  const bool by_lists = !reasons.empty() && std::ranges::all_of(expansion.skipped, &Skipped::by_list);
  throw NothingSelected(
      fmt::format("nothing to run: the suites and flags select no case ({} skipped{}, see --torchstone_list=skipped{})",
                  expansion.skipped.size(), reasons.size() == 1 ? ": " + *reasons.begin() : "",
                  by_lists ? "; --torchstone_no_skip runs them" : ""));
}

}  // namespace torchstone::selection
