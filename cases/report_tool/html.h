#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `torchstone-report html RESULTS… [--baseline OLD] [--history FILE] [-o FILE]`: adds the command. It sets `exit_code`
/// when it runs: 0 written, 2 unusable input, 3 no results found.
void add_html_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
