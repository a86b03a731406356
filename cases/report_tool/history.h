#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `torchstone-report history DIR… [-o history.jsonl] [--metric KEY]`: adds the command. It sets `exit_code` when it
/// runs: 0 done, 2 unusable input or no such metric, 3 no results found.
void add_history_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
