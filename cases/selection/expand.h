#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

#include "cases/settings/axes.h"
#include "cases/settings/flags.h"
#include "cases/settings/suite.h"

namespace torchstone::selection {

/// The dtype of a model from a file.
struct OwnDtype {
  DType dtype = DType::float32;    ///< in which nothing of the file is cast
  DType loosest = DType::float32;  ///< of as_written: the dtype of the file whose tolerance is the loosest
};

/// What a suite may refer to.
struct Known {
  std::vector<const ModelInfo*> models;
  std::vector<std::string> backends;
  std::map<std::string, OwnDtype> dtypes{};  ///< of models from files with floating-point numbers, by name

  const ModelInfo* model(const std::string& name) const;  ///< nullptr when there is none
};
/// The registries of this program.
Known known_here();

/// The model of that name; throws ConfigError for `place` when there is none.
const ModelInfo& require_model(const Known& known, const std::string& name, const config::Place& place);
/// Throws ConfigError for a backend that is not known.
void require_backends(const Known& known, const config::Choices<BackendSpec>& choices);

/// A combination that is not registered, and why.
struct Skipped {
  std::string name, reason, origin;
};

struct Expansion {
  std::vector<Case> cases;
  std::vector<Skipped> skipped;
};

/// Nothing is left to run. Exit code 3.
struct NothingSelected : config::ConfigError {
  using config::ConfigError::ConfigError;
};

/// Suites × policies × registry × flags → cases, in the order suite, check, row, model, mode, dtype, backend, device,
/// preset, dynamic. Each field is decided by the strongest of: flag, model entry, row, suite defaults, policy, default;
/// `origin` says which. What is written differently and made alike by a policy, a device or a flag is registered once.
/// Throws ConfigError for an unknown suite, model or backend and for other cases whose names coincide.
Expansion expand(const std::vector<suite::Suite>& suites, const Known& known, const flags::Flags& flags);
/// Throws NothingSelected when there is no case.
void require_cases(const Expansion& expansion);

/// The suites that run, with --torchstone_suite and --torchstone_only applied. Throws ConfigError for an unknown name.
std::vector<suite::Suite> chosen_suites(const std::vector<suite::Suite>& all, const Known& known,
                                        const flags::Flags& flags);

/// The rows that flags leave: each row split by check and cut down to the values given; a value that no row of a check
/// has is added through a copy of each of its rows.
std::vector<suite::Row> select_rows(const std::vector<suite::Row>& rows, const config::Axes& given);

/// The rows, and behind them for each of their checks one with all models, modes and dtypes, and all backends, devices
/// and presets that some row has (eager against eager is a control, not a combination).
std::vector<suite::Row> full_matrix(std::vector<suite::Row> rows, const config::Place& place);

/// The model name that --torchstone_only means: the name itself, or formats::model_name_of() of a file; `NAME_file`
/// where the zoo has a model of that name.
std::string only_model(const flags::Flags& flags);
/// Whether it means a file (formats::is_model_file()).
bool only_is_file(const flags::Flags& flags);

/// expand(), once for each combination of the values in flags.sweeps, one combination after the other; the same as
/// expand() where nothing is swept. A swept case has its combination behind its name (`_batch_size_8_threads_2`, which
/// is its origin `sweep`), so that names stay different. A case that a combination does not change, because its model's
/// batch is fixed, is there once and skipped afterwards.
Expansion expand_sweep(const std::vector<suite::Suite>& suites, const Known& known, const flags::Flags& flags);

}  // namespace torchstone::selection
