#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

#include "cases/settings/flags.h"
#include "cases/settings/suite.h"

namespace torchstone::selection {

/// The dtype of a model from a file.
struct OwnDtype {
  DType dtype = DType::float32;    ///< the dtype that needs no cast
  DType loosest = DType::float32;  ///< for as_written: the file's dtype with the loosest tolerance
};

/// Models and backends that a suite may refer to.
struct Known {
  std::vector<const ModelInfo*> models;
  std::vector<std::string> backends;
  std::map<std::string, OwnDtype> dtypes{};  ///< by model name, for files with floating-point numbers

  const ModelInfo* model(const std::string& name) const;  ///< nullptr for an unknown name
};
/// Returns the models and backends that this program has registered.
Known known_here();

/// Finds a model; throws a ConfigError that names `place` for an unknown name.
const ModelInfo& require_model(const Known& known, const std::string& name, const config::Place& place);
/// Throws ConfigError for an unknown backend or a wrong option. torch.compile itself knows the options of a Python
/// module.
void require_backends(const Known& known, const config::Choices<BackendSpec>& choices, bool of_python_module);

/// A combination that is not registered, and the reason.
struct Skipped {
  std::string name, reason, origin;
  bool by_list = false;  ///< excluded by a policy's list, which --torchstone_no_skip ignores
};

struct Expansion {
  std::vector<Case> cases;
  std::vector<Skipped> skipped;
};

/// Suites and flags select no case. Exit code 3.
struct NothingSelected : config::ConfigError {
  using config::ConfigError::ConfigError;
};

/// Makes cases of suites, policies, registries and flags, in the order suite, check, row, model, mode, dtype, backend,
/// device, preset, dynamic. The strongest of flag, model entry, row, suite defaults, policy and default decides each
/// field; `origin` records which. Rows that a policy, a device or a flag makes identical are registered once. Throws
/// ConfigError for an unknown suite, model or backend, and for other cases with the same name.
///
/// Makes the cases once for each combination of the values in flags.sweeps. The name of a swept case ends with its
/// combination (`_batch_size_8_threads_2`), so that names differ. If a model's batch size is fixed, two combinations
/// may make the same case; the second one is skipped.
Expansion expand(const std::vector<suite::Suite>& suites, const Known& known, const flags::Flags& flags);
/// Throws NothingSelected without a case.
void require_cases(const Expansion& expansion);

/// Applies --torchstone_suite and --torchstone_only to the suites. With several models, a suite occurs once per model.
/// Throws ConfigError for an unknown name.
std::vector<suite::Suite> chosen_suites(const std::vector<suite::Suite>& all, const Known& known,
                                        const flags::Flags& flags);

/// Splits each row by check and reduces it to the given values. If no row of a check has a given value, each of its
/// rows is copied with that value.
std::vector<suite::Row> select_rows(const std::vector<suite::Row>& rows, const config::Axes& given);

/// Appends a row with all checks, backends, devices and presets of the rows, all models, all modes and all dtypes.
/// Leaves out eager against eager, which is a control.
std::vector<suite::Row> full_matrix(std::vector<suite::Row> rows, const config::Place& place);

/// Returns the model's name for a value of --torchstone_only: the given name, or formats::model_name_of() of a file. A
/// file gets the name `NAME_file` where the zoo has a model of its name.
std::string only_model(const std::string& only);
/// Tells whether such a value names a file (formats::is_model_file()).
bool only_is_file(const std::string& only);

}  // namespace torchstone::selection
