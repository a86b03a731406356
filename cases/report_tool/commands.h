#pragma once
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "reports/judge/baseline_input.h"

// Subcommands of torchstone-report, and the parts that they share. A command sets `exit_code` when it runs. It throws
// for unusable input; main prints the error and ends with ExitCode::usage_error.

namespace torchstone {

// Exit codes, where a command's help text lists no others: 0 done, 3 no results.
void add_claim_command(CLI::App& app);
void add_compare_command(CLI::App& app, int& exit_code);
void add_diff_command(CLI::App& app, int& exit_code);
void add_explain_command(CLI::App& app, int& exit_code);
void add_gate_command(CLI::App& app, int& exit_code);
void add_history_command(CLI::App& app, int& exit_code);
void add_html_command(CLI::App& app, int& exit_code);
/// Also exits with 4 if a writer failed, and with 130 if a case was interrupted. With --exit-code it exits as one run
/// of all cases would.
void add_merge_command(CLI::App& app, int& exit_code);
void add_plan_command(CLI::App& app, int& exit_code);
/// `markdown|csv|NAME RESULTS…`: adds the commands that write a report in one format, one for each registered writer
/// (<torchstone/report_writer.h>) without a command.
void add_text_commands(CLI::App& app, int& exit_code);

/// Adds `RESULTS…`: results folders or results.json files, at least one.
CLI::Option* add_inputs(CLI::App& command, std::vector<std::string>& inputs);
/// Adds `-o,--out FILE` for a text, which otherwise goes to standard output.
CLI::Option* add_output(CLI::App& command, std::string& file);
/// Adds `--baseline OLD`, which may be repeated, `--other-machine` and `--other-torch`. `purpose` continues the help
/// text.
void add_baseline(CLI::App& command, std::vector<std::string>& paths, judge::BaselineOptions& options,
                  const std::string& purpose);

/// Prints each warning to standard error.
void print_warnings(const std::vector<std::string>& warnings);
/// Reads the inputs as one report; prints warnings. Prints an error and returns nothing when they hold no results.
/// Throws ReportError.
std::optional<Report> read_inputs(const std::vector<std::string>& inputs);
/// Reads a baseline: results of runs, or a CSV of benchmarks/dynamo. Prints warnings, and an error when it holds no
/// results. Throws ReportError.
judge::Baseline read_baseline(const std::vector<std::string>& paths);
/// Tells whether a baseline holds no results.
bool is_empty(const judge::Baseline& baseline);
/// Reads a file of `history`; prints warnings. Throws ReportError.
std::vector<judge::HistoryPoint> read_history_file(const std::string& path);
/// Writes the whole file or nothing; writes to standard output when `file` is empty. Throws std::system_error.
void write_output(const std::string& text, const std::string& file);

/// Accepts a finite number from `low` to `high`. CLI11's Range and PositiveNumber let NaN pass.
CLI::Validator number_between(double low, double high);
/// Accepts a finite number above 0.
CLI::Validator positive_number();

}  // namespace torchstone
