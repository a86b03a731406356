#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `torchstone-report compare OLD NEW`: adds the command. It sets `exit_code` when it runs: 0 nothing is worse, 1
/// something is, 2 unusable input or a baseline of another machine, 3 no case is on both sides.
void add_compare_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
