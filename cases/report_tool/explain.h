#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `explain CASE RESULTS…`: what the diagnosis of a case found (docs/diagnosis.md).
void add_explain_command(CLI::App& app, int& exit_code);

}  // namespace torchstone
