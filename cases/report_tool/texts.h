#pragma once
namespace CLI {
class App;
}

namespace torchstone {

/// `torchstone-report markdown|openmetrics|csv|github RESULTS…`: adds the commands that write a report in one further
/// form. Each sets `exit_code` when it runs: 0 written, 3 no results found.
void add_text_commands(CLI::App& app, int& exit_code);

}  // namespace torchstone
