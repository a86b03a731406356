#pragma once

#include <CLI/CLI.hpp>

namespace torchstone {

/// `claim FOLDER`: for ctest and scripts that run cases as processes of their own.
void add_claim_command(CLI::App& app);

/// `torchstone-report compare OLD NEW`: adds the command. It sets `exit_code` when it runs: 0 nothing is worse, 1
/// something is, 2 unusable input or a baseline of another machine, 3 no case is on both sides.
void add_compare_command(CLI::App& app, int& exit_code);

/// `diff REF RES`: compares two files written by torch.save. `exit_code` gets 0 (same), 1 (different) or 2 (unusable).
void add_diff_command(CLI::App& app, int& exit_code);

/// `explain CASE RESULTS…`: what the diagnosis of a case found (docs/diagnosis.md).
void add_explain_command(CLI::App& app, int& exit_code);

/// `torchstone-report gate accuracy|graph_breaks|memory|speedup`: adds the command. It sets `exit_code` when it runs:
/// 0 all as they should be, 1 one is not, 2 unusable input, 3 nothing was judged.
void add_gate_command(CLI::App& app, int& exit_code);

/// `torchstone-report history DIR… [-o history.jsonl] [--metric KEY]`: adds the command. It sets `exit_code` when it
/// runs: 0 done, 2 unusable input or no such metric, 3 no results found.
void add_history_command(CLI::App& app, int& exit_code);

/// `torchstone-report html RESULTS… [--baseline OLD] [--history FILE] [-o FILE]`: adds the command. It sets `exit_code`
/// when it runs: 0 written, 2 unusable input, 3 no results found.
void add_html_command(CLI::App& app, int& exit_code);

/// `torchstone-report merge DIR… [-o OUT] [--junit-properties on|off]`: adds the command. It sets `exit_code` when it
/// runs: 0 written, 2 unusable input, 3 no results found, 4 a writer failed, 130 written, but a run was cut
/// off: a case is interrupted.
void add_merge_command(CLI::App& app, int& exit_code);

/// `torchstone-report markdown|csv|NAME RESULTS…`: adds the commands that write a report in one form, one for each
/// registered writer (<torchstone/report_writer.h>) that has no command yet. Each sets `exit_code` when it runs: 0
/// written, 3 no results found.
void add_text_commands(CLI::App& app, int& exit_code);

}  // namespace torchstone
