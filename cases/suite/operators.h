#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cases/flags/flags.h"
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
/// it to the suite; one that a rule leaves out is added with the reason (models/operators/skip_rules.h). Throws
/// ConfigError with the log's file and line.
void add_operators(std::vector<Suite>& suites, const flags::Flags& flags);

/// Names of the suites that have the key.
std::set<std::string> operator_suites(const std::vector<Suite>& suites);

}  // namespace torchstone::suite
