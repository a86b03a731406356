#pragma once
namespace CLI {
class App;
}

namespace torchstone {

/// `torchstone-report diff …`: adds the command; it sets `exit_code` when it runs.
void add_diff_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
