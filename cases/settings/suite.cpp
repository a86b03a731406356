#include "cases/settings/suite.h"

#include <algorithm>
#include <dlfcn.h>
#include <map>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "cases/settings/operator_logs.h"
#include "cases/settings/yaml.h"
#include "models/core/model_registry.h"
#include "models/fastrnns/lstm_options.h"
#include "models/operators/operator_log.h"

namespace torchstone::suite {
namespace fs = std::filesystem;
namespace {

// Returns the path of a file that a suite names relative to its own folder.
std::string file_of(const config::Yaml& node, const fs::path& folder) {
  const std::string path = (folder / text_of(node)).lexically_normal().string();
  std::error_code error;  // a name may be too long for the file system
  if (!fs::is_regular_file(path, error)) fail(node, fmt::format("no such file: {}", path));
  return path;
}

// Returns the keys of the axes, and `others`.
std::vector<std::string> with_axis_keys(const std::vector<std::string>& others) {
  std::vector<std::string> keys{"checks", "modes", "dtypes", "backends", "devices", "presets", "dynamic"};
  keys.insert(keys.end(), others.begin(), others.end());
  return keys;
}

// Reads the settings among the keys of a map. Checks each one here, so that errors name its line.
config::Settings read_settings(const config::Yaml& map) {
  const auto keys = config::setting_keys();
  config::Settings settings;
  for (const auto& [key, value] : map.entries) {
    if (std::ranges::find(keys, key) == keys.end()) continue;
    check_setting(key, value);
    settings.emplace_back(key, value);
  }
  const config::Yaml* expected = map.find("expected");
  const config::Yaml* reason = map.find("reason");
  if (reason && !expected) fail(*reason, "a reason without a status (expected the key expected too)");
  if (expected && !reason && expected->text != "pass")
    fail(*expected, "a known failure without a reason (expected the key reason too)");
  const config::Yaml* bound = map.find("max_error");
  if (bound && !(expected && expected->text == "fail_accuracy"))
    fail(*bound, "a bound without a wrong answer that is expected (expected the key expected: fail_accuracy too)");
  return settings;
}

// Returns the values of an axis: the row's, or else the suite's defaults. In the defaults the key may be singular
// (`device`).
const config::Yaml* find_axis(const config::Yaml& row, const config::Yaml* defaults, const std::string& key) {
  const config::Yaml* node = row.find(key);
  if (!node && defaults) node = defaults->find(key);
  if (!node && defaults) node = defaults->find(key.substr(0, key.size() - 1));
  return node;
}

// Reads the values of an axis; a missing axis has the value `otherwise`, if any.
template <typename T>
config::Choices<T> read_axis(const config::Yaml& row, const config::Yaml* defaults, const std::string& key,
                             T (*parse)(const config::Yaml&), const char* otherwise) {
  const config::Yaml* node = find_axis(row, defaults, key);
  if (!node && !otherwise) fail(row, fmt::format("the key {} is missing", key));
  if (!node) return {{parse(config::scalar_of_flag("default", otherwise)), {"default"}}};
  config::Choices<T> choices;
  for (const auto& item : list_of(*node)) choices.push_back({parse(item), item});
  if (choices.empty()) fail(*node, "an empty list (expected at least one)");
  return choices;
}

// Reads the dtypes. In a suite for files, `own` is the dtype of each file.
void read_dtypes(const config::Yaml& row, const config::Yaml* defaults, bool own_files, config::Axes& axes) {
  const config::Yaml* node = find_axis(row, defaults, "dtypes");
  if (!own_files || !node) {
    axes.dtypes = read_axis(row, defaults, "dtypes", config::dtype_of, "float32");
    return;
  }
  for (const auto& item : list_of(*node)) {
    if (item.kind == config::Yaml::Kind::scalar && item.text == "own")
      axes.own_dtype = item;
    else
      axes.dtypes.push_back({config::dtype_of(item), item});
  }
  if (axes.dtypes.empty() && !axes.own_dtype) fail(*node, "an empty list (expected at least one)");
}

// Reads the models that a row names under `key`; returns none when the key is absent.
config::Choices<std::string> read_names(const config::Yaml& node, const char* key,
                                        const std::vector<SuiteModel>& models) {
  config::Choices<std::string> chosen;
  const config::Yaml* list = node.find(key);
  if (!list) return chosen;
  const auto names = config::texts_of(models, &SuiteModel::name);
  for (const auto& item : list_of(*list)) {
    const std::string name = text_of(item);
    require_known(item, name, names, name + " is not a model of this suite");
    chosen.push_back({name, item});
  }
  if (chosen.empty()) fail(*list, "an empty list (expected at least one)");
  return chosen;
}

Row read_row(const config::Yaml& node, const config::Yaml* defaults, const std::vector<SuiteModel>& models,
             bool own_files) {
  config::require_setting_keys(node, with_axis_keys({"models", "except"}));
  Row row;
  row.place = node;
  row.axes.checks = read_axis(node, defaults, "checks", config::check_name_of, nullptr);
  row.axes.modes = read_axis(node, defaults, "modes", config::mode_of, "inference");
  read_dtypes(node, defaults, own_files, row.axes);
  row.axes.backends = read_axis(node, defaults, "backends", config::backend_spec_of, nullptr);
  row.axes.devices = read_axis(node, defaults, "devices", config::device_of, "cpu");
  row.axes.presets = read_axis(node, defaults, "presets", config::preset_of, "mini");
  row.axes.dynamic = read_axis(node, defaults, "dynamic", config::dynamic_of, "off");
  row.settings = read_settings(node);
  row.models = read_names(node, "models", models);
  row.except = read_names(node, "except", models);
  return row;
}

SuiteModel read_model(const config::Yaml& node) {
  SuiteModel model;
  model.place = node;
  if (node.kind == config::Yaml::Kind::map) {
    if (node.entries.size() != 1)
      fail(node, fmt::format("{} keys (expected a model's name, or name: {{key: value}})", node.entries.size()));
    const auto& [name, overrides] = node.entries.front();
    model.name = name;
    if (overrides.kind != config::Yaml::Kind::null) {
      config::require_setting_keys(overrides, {"skip"});
      model.settings = read_settings(overrides);
      if (const config::Yaml* skip = overrides.find("skip")) model.skip = text_of(*skip);
    }
  } else {
    model.name = text_of(node);
  }
  if (model.name.empty() || model.name.size() > 200) fail(node, "model names must have 1 to 200 characters");
  return model;
}

std::string read_name(const config::Yaml& root) {
  static const std::regex pattern("[A-Za-z][A-Za-z0-9_]{0,60}");
  const config::Yaml& node = require(root, "suite");
  std::string name = text_of(node);
  if (name.size() > 61 || !std::regex_match(name, pattern))
    fail(node, fmt::format("'{}' is not a valid suite name (expected letters, digits and _)", name.substr(0, 61)));
  return name;
}

/// Policies read so far, by file and default rule, because most suites share a file with another one.
using KnownPolicies = std::map<std::pair<std::string, policy::Rule>, policy::Policy>;

/// Reads the policy that a node names, relative to the suite's folder.
policy::Policy policy_at(const config::Yaml& node, const fs::path& folder, const std::string& suite,
                         KnownPolicies& known) {
  const std::string file = file_of(node, folder);
  const auto [found, fresh] = known.try_emplace({file, policy::rule_of_suite(suite)});
  if (fresh) found->second = policy::read_policy(file, suite);
  policy::Policy policy = found->second;
  policy.origin = origin_of(node);
  return policy;
}

void read_policies(const config::Yaml& root, const fs::path& folder, Suite& suite, KnownPolicies& known) {
  suite.policy.rule = policy::rule_of_suite(suite.name);
  suite.policy.origin = origin_of(root);
  if (const config::Yaml* policy = root.find("policy")) suite.policy = policy_at(*policy, folder, suite.name, known);
  if (const config::Yaml* policies = root.find("upstream_policies")) {
    require_map(*policies);
    for (const auto& [name, file] : policies->entries) {
      require_known(file, name, {"torchbench", "timm", "huggingface"}, name + " is not a suite of upstream's");
      suite.upstream_policies.emplace(name, policy_at(file, folder, name, known));
    }
  }
  // A file's cases use the batch size that the model was saved with.
  suite.policy.keeps_batch_size = suite.own_files || suite.own_modules;
  for (auto& [name, policy] : suite.upstream_policies) policy.keeps_batch_size = suite.own_files;
}

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

// Replaces values of a suite by values of the flags.
OperatorChoice with_flags(OperatorChoice choice, const flags::OperatorFlags& flags) {
  if (!flags.logs.empty() || !flags.names.empty()) choice.logs = flags.logs;
  for (const auto& name : flags.names)
    for (const auto& log : operator_logs_of(name, {flags.folder, own_suites().parent_path() / "operators"}))
      if (std::ranges::count(choice.logs, log) == 0) choice.logs.push_back(log);
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

// Reads `{logs: [FILE, …], max_samples: N, start_index: N, layouts: [recorded, channels_last]}`.
OperatorChoice read_operator_choice(const config::Yaml& node, const fs::path& folder) {
  require_keys(node, {"logs", "max_samples", "start_index", "layouts"});
  OperatorChoice choice;
  for (const auto& log : list_of(require(node, "logs"))) choice.logs.push_back(file_of(log, folder));
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

// Adds the models of the selected suites with the key `operators`. Registers a model for each input to run; one that a
// rule excludes gets the reason (models/operators/operator_log.h).
void add_operators(std::vector<Suite>& suites, const flags::Flags& flags) {
  for (auto& suite : suites) {
    const bool selected = flags.suites.empty() || contains(flags.suites, suite.name);
    if (suite.operators && selected) add_log(suite, with_flags(*suite.operators, flags.operators));
  }
}

Suite read_suite(const std::string& file, KnownPolicies& known) {
  const config::Yaml root = config::read_yaml(file);
  const fs::path folder = fs::path(file).parent_path();
  require_keys(root, {"suite", "policy", "upstream_policies", "expected_file", "defaults", "matrix", "models",
                      "operators", "own_files", "own_modules"});
  Suite suite;
  suite.place = root;
  suite.name = read_name(root);
  if (const config::Yaml* expected = root.find("expected_file"))
    suite.expected_file = (folder / text_of(*expected)).lexically_normal().string();
  const config::Yaml* defaults = root.find("defaults");
  if (defaults && defaults->kind == config::Yaml::Kind::null) defaults = nullptr;
  if (defaults) {
    config::require_setting_keys(*defaults, with_axis_keys({"check", "mode", "dtype", "backend", "device", "preset"}));
    suite.defaults = read_settings(*defaults);
  }
  const config::Yaml* operators = root.find("operators");
  if (operators) suite.operators = read_operator_choice(*operators, folder);
  if (const config::Yaml* own_files = root.find("own_files")) suite.own_files = boolean_of(*own_files);
  if (const config::Yaml* own_modules = root.find("own_modules")) suite.own_modules = boolean_of(*own_modules);
  const bool of_user = suite.own_files || suite.own_modules;
  read_policies(root, folder, suite, known);
  const bool models_come_later = operators || of_user;
  const config::Yaml none;
  const config::Yaml& models = models_come_later && !root.find("models") ? none : require(root, "models");
  for (const auto& item : list_of(models)) {
    SuiteModel model = read_model(item);
    for (const auto& earlier : suite.models)
      if (earlier.name == model.name)
        fail(item, fmt::format("{} is already listed at {}", model.name, origin_of(earlier.place)));
    suite.models.push_back(std::move(model));
  }
  if (!suite.models.empty() && of_user)
    fail(models, fmt::format("a suite with {} must not list models: --torchstone_only names them",
                             suite.own_files ? "own_files" : "own_modules"));
  if (suite.models.empty() && !models_come_later) fail(models, "an empty list (expected at least one model)");
  for (const auto& row : list_of(require(root, "matrix")))
    suite.rows.push_back(read_row(row, defaults, suite.models, of_user));
  if (suite.rows.empty()) fail(require(root, "matrix"), "an empty list (expected at least one row)");
  return suite;
}

}  // namespace

const policy::Policy& Suite::policy_of(const ModelInfo& info) const {
  if (!info.upstream) return policy;
  for (const auto& [suite, of_upstream] : upstream_policies)
    if (info.upstream->suite.empty() ? of_upstream.lists(info.upstream->name) : suite == info.upstream->suite)
      return of_upstream;
  return policy;
}

Suite read_suite(const std::string& file) {
  KnownPolicies known;
  return read_suite(file, known);
}

// An installed program (PREFIX/lib/torchstone/torchstone) has its suites in PREFIX/share, wherever PREFIX was moved. It
// ignores a source tree on the same machine. A program in a build folder has the suites of its source tree.
fs::path own_suites() {
  std::error_code ignored;
  Dl_info library;
  if (dladdr(reinterpret_cast<const void*>(&own_suites), &library) == 0) library.dli_fname = "";
  const fs::path folder = fs::weakly_canonical(library.dli_fname, ignored).parent_path();
  const fs::path suites = folder.filename() == "torchstone" ? (folder / TORCHSTONE_INSTALLED_SUITES).lexically_normal()
                                                            : fs::path(TORCHSTONE_SUITES_FOLDER);
  if (fs::is_directory(suites, ignored)) return suites;
  config::fail({"--torchstone_suites"},
               fmt::format("the program's own suites are missing: no folder {} (reinstall, or name a folder with "
                           "--torchstone_suites)",
                           suites.string()));
}

std::vector<Suite> read_suites(const std::string& folder_or_file) {
  const fs::path path = folder_or_file.empty() ? own_suites() : fs::path(folder_or_file);
  std::error_code error;
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    for (const auto& entry : fs::directory_iterator(path, error))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
    std::ranges::sort(files);
    if (files.empty()) config::fail({path.string()}, "no *.yaml in this folder (expected suites)");
  } else {
    files.push_back(path.string());
  }
  std::vector<Suite> suites;
  KnownPolicies known;
  for (const auto& file : files) {
    suites.push_back(read_suite(file, known));
    for (size_t i = 0; i + 1 < suites.size(); ++i)
      if (suites[i].name == suites.back().name)
        config::fail(suites.back().place,
                     fmt::format("the suite {} is already in {}", suites.back().name, suites[i].place.file));
  }
  return suites;
}

std::set<std::string> operator_suites(const std::vector<Suite>& suites) {
  std::set<std::string> names;
  for (const auto& suite : suites)
    if (suite.operators) names.insert(suite.name);
  return names;
}

/// Adds a suite for each suite that a model names but no suite file describes. It gets the rows of the suite for files.
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
