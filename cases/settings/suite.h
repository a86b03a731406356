#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cases/settings/case_fields.h"
#include "cases/settings/flags.h"
#include "cases/settings/policy.h"
#include "models/operators/operator_model.h"

namespace torchstone::suite {

/// The key `operators` of a suite, and the flags of the same names. The suite's models are the calls in logs of
/// operator inputs.
struct OperatorChoice {
  std::vector<std::string> logs;  ///< files (models/operators/operator_log.h), merged into one log
  int max_samples = 15;           ///< inputs to run for each operator; upstream's default
  int start_index = 0;            ///< first input to run
  std::vector<operators::OperatorLayout> layouts{operators::OperatorLayout::recorded};
};

/// One row of a suite's matrix.
struct Row {
  config::Axes axes;
  config::Choices<std::string> models;  ///< models of the row; empty: all of the suite
  config::Choices<std::string> except;  ///< models of the suite to leave out of the row
  config::Settings settings;
  config::Place place;
  bool widened = false;  ///< a flag made it from a row of the suite; cases that another row has are dropped
};

struct SuiteModel {
  std::string name;
  config::Settings settings;
  std::optional<std::string> skip;  ///< reason for not registering the model
  config::Place place;
};

/// One suite file: the combinations to register.
struct Suite {
  std::string name;
  policy::Policy policy;
  /// Policies by upstream's suites, for models that belong to one (ModelInfo::upstream).
  std::map<std::string, policy::Policy> upstream_policies;
  config::Settings defaults;
  std::vector<Row> rows;
  std::vector<SuiteModel> models;           ///< prepare_models() adds the operators
  bool own_files = false;                   ///< its models are the files of --torchstone_only
  bool own_modules = false;                 ///< its models are the Python modules of --torchstone_only
  std::optional<OperatorChoice> operators;  ///< logs whose calls are models
  std::string expected_file;                ///< expected statuses (cases/selection/expected_status.h); empty: none
  config::Place place;

  /// Returns the policy of a model: the one of its upstream suite, else the suite's own.
  const policy::Policy& policy_of(const ModelInfo& info) const;
};

/// Reads a suite and its policy (a path relative to the suite's own folder); throws ConfigError.
Suite read_suite(const std::string& file);
/// Reads the `*.yaml` of a folder, sorted, or one file; throws ConfigError for an empty folder. An empty path means
/// own_suites().
std::vector<Suite> read_suites(const std::string& folder_or_file);
/// Returns the folder of the program's suites, in its installation or else in the source tree. Throws ConfigError
/// when it is missing.
std::filesystem::path own_suites();

/// Returns the names of the suites with the key `operators`.
std::set<std::string> operator_suites(const std::vector<Suite>& suites);
/// Applies the flags of the suites fastrnns (sizes and TorchScript's executor) and operators (models from logs), before
/// cases are made. Throws ConfigError.
void prepare_models(std::vector<Suite>& suites, const flags::Flags& flags);

}  // namespace torchstone::suite
