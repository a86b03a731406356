#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cases/config/axes.h"
#include "cases/config/settings.h"
#include "cases/policy/policy.h"
#include "cases/suite/operators.h"

namespace torchstone::suite {

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
  std::string expected_file;                ///< expected statuses (cases/expected_status/expected.h); empty: none
  config::Place place;
};

/// Reads a suite and its policy (a path relative to the suite's own folder); throws ConfigError.
Suite read_suite(const std::string& file);
/// The `*.yaml` of a folder, sorted, or the one file; throws ConfigError when there is none. An empty path means the
/// suites that belong to the program: beside its installation, else in the source tree.
std::vector<Suite> read_suites(const std::string& folder_or_file);
/// That folder of the program; throws ConfigError when it is missing.
std::filesystem::path own_suites();

}  // namespace torchstone::suite
