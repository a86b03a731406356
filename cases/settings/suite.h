#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cases/settings/axes.h"
#include "cases/settings/case_fields.h"
#include "cases/settings/flags.h"
#include "cases/settings/policy.h"
#include "models/operators/operator_model.h"

namespace torchstone::suite {

struct Suite;
/// The key `operators` of a suite, and the flags of the same names: its models are the calls in logs of operator
/// inputs.
struct OperatorChoice {
  std::vector<std::string> logs;  ///< files (models/operators/operator_log.h); together one log
  int max_samples = 15;           ///< inputs of one operator that are run; upstream's default
  int start_index = 0;            ///< the first of them
  std::vector<operators::OperatorLayout> layouts{operators::OperatorLayout::recorded};
  config::Place place{};
};

/// Reads `{logs: [FILE, …], max_samples: N, start_index: N, layouts: [recorded, channels_last]}`; files are relative to
/// `folder`. Throws ConfigError.
OperatorChoice read_operator_choice(const config::Yaml& node, const std::string& folder);

/// Makes models of the logs of every suite that is chosen and has the key: registers each input that is run, and adds
/// it to the suite; one that a rule leaves out is added with the reason (models/operators/operator_log.h). Throws
/// ConfigError with the log's file and line.
void add_operators(std::vector<Suite>& suites, const flags::Flags& flags);

/// Names of the suites that have the key.
std::set<std::string> operator_suites(const std::vector<Suite>& suites);

struct Row {
  config::Axes axes;
  config::Choices<std::string> models;  ///< only these; empty: all of the suite
  config::Choices<std::string> except;  ///< but not these
  config::Settings settings;
  config::Place place;
  bool widened = false;  ///< made by a flag from a row of the suite: cases that another row has already are left out
};

struct SuiteModel {
  std::string name;
  config::Settings settings;
  std::optional<std::string> skip;  ///< not registered, for this reason
  config::Place place;
};

/// One suite file: which combinations are registered.
struct Suite {
  std::string name;
  policy::Policy policy;
  config::Settings defaults;
  std::vector<Row> rows;
  std::vector<SuiteModel> models;           ///< without the operators, which add_operators() adds
  bool own_files = false;                   ///< its models are the files of --torchstone_only
  std::optional<OperatorChoice> operators;  ///< logs whose calls are models
  std::string expected_file;                ///< expected statuses (cases/selection/expected_status.h); empty: none
  config::Place place;
};

/// Reads a suite and its policy (a path relative to the suite's own folder); throws ConfigError.
Suite read_suite(const std::string& file);
/// The `*.yaml` of a folder, sorted, or the one file; throws ConfigError when there is none. An empty path means the
/// suites that belong to the program: beside its installation, else in the source tree.
std::vector<Suite> read_suites(const std::string& folder_or_file);
/// That folder of the program; throws ConfigError when it is missing.
std::filesystem::path own_suites();

/// What the suites with flags of their own do before cases are made: fastrnns gets its sizes and TorchScript's
/// executor, operators its models from logs. Throws ConfigError.
void prepare_models(std::vector<Suite>& suites, const flags::Flags& flags);

}  // namespace torchstone::suite
