#pragma once
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "reports/judge/baseline_input.h"

// Subcommands of torchstone-report, and the parts that they share. A command sets `exit_code` when it runs. It throws
// for unusable input; main prints the error and ends with ExitCode::usage_error.

namespace torchstone {

/// `claim FOLDER`: for ctest and scripts that run cases as processes of their own.
void add_claim_command(CLI::App& app);
/// `compare OLD… NEW`. Exit codes: 0 nothing is worse, 1 something is, 2 also a baseline of another machine, 3 no case
/// is on both sides.
void add_compare_command(CLI::App& app, int& exit_code);
/// `diff REF RES`: compares two files of torch.save. Exit codes: 0 same, 1 different, 2 unusable.
void add_diff_command(CLI::App& app, int& exit_code);
/// `explain CASE RESULTS…`: prints the findings of a case's diagnosis (docs/diagnosis.md).
void add_explain_command(CLI::App& app, int& exit_code);
/// `gate accuracy|graph_breaks|memory|speedup`. Exit codes: 0 all as expected, 1 a model is not, 3 nothing was judged.
void add_gate_command(CLI::App& app, int& exit_code);
/// `history RESULTS… [-o history.jsonl] [--metric KEY]`. Exit codes: 0 done, 2 also an unknown metric, 3 no results.
void add_history_command(CLI::App& app, int& exit_code);
/// `html RESULTS… [--baseline OLD] [--history FILE] [-o FILE]`. Exit codes: 0 written, 3 no results.
void add_html_command(CLI::App& app, int& exit_code);
/// `merge RESULTS… [-o OUT] [--junit-properties on|off]`. Exit codes: 0 written, 3 no results, 4 a writer failed, 130
/// written, but a case was interrupted.
void add_merge_command(CLI::App& app, int& exit_code);
/// `markdown|csv|NAME RESULTS…`: adds the commands that write a report in one format, one for each registered writer
/// (<torchstone/report_writer.h>) without a command. Exit codes: 0 written, 3 no results.
void add_text_commands(CLI::App& app, int& exit_code);

/// Adds `RESULTS…`: results folders or results.json files, at least one.
CLI::Option* add_inputs(CLI::App& command, std::vector<std::string>& inputs);
/// Adds `-o,--out FILE` for a text, which otherwise goes to standard output.
CLI::Option* add_output(CLI::App& command, std::string& file);
/// Adds `--baseline OLD`, which may be repeated, and `--other-machine`. `purpose` continues the help text.
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
