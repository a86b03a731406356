#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `diff REF RES`: compares two files written by torch.save. `exit_code` gets 0 (same), 1 (different) or 2 (unusable).
void add_diff_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
