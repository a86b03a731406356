#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `torchstone-report merge DIR… [-o OUT] [--junit-properties on|off]`: adds the command. It sets `exit_code` when it
/// runs: 0 written, 2 unusable input, 3 no results found, 4 a writer failed, 130 written, but a run was cut
/// off: a case is interrupted.
void add_merge_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
