#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `torchstone-report gate accuracy|graph_breaks|memory|speedup`: adds the command. It sets `exit_code` when it runs:
/// 0 all as they should be, 1 one is not, 2 unusable input, 3 nothing was judged.
void add_gate_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
