#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

/// `torchstone-report markdown|csv|NAME RESULTS…`: adds the commands that write a report in one form, one for each
/// registered writer (<torchstone/report_writer.h>) that has no command yet. Each sets `exit_code` when it runs: 0
/// written, 3 no results found.
void add_text_commands(CLI::App& app, int& exit_code);

}  // namespace torchstone
