#pragma once
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

#include "cases/flags/flags.h"
#include "cases/selection/known.h"
#include "cases/suite/suite.h"

namespace torchstone::selection {

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

}  // namespace torchstone::selection
