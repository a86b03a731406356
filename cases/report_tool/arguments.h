#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "reports/base/process.h"
#include "reports/judge/baseline_input.h"
#include "reports/record/report_json.h"

namespace torchstone {

// What every subcommand does alike. A ReportError is printed by main, which ends with ExitCode::usage_error.

/// `RESULTS…`: results folders or results.json files, at least one.
CLI::Option* add_inputs(CLI::App& command, std::vector<std::string>& inputs);
/// `-o,--out FILE` for `what`, which goes to standard output without it.
CLI::Option* add_output(CLI::App& command, std::string& file, const std::string& what = "the text");

/// The inputs as one report; warnings go to standard error. Nothing, with a line there, when they hold no results.
/// Throws ReportError.
std::optional<Report> read_inputs(const std::vector<std::string>& inputs);
/// What `compare` takes as OLD: results of runs, or a CSV of benchmarks/dynamo. Warnings go to standard error, and a
/// line when it holds no results. Throws ReportError.
judge::Baseline read_baseline(const std::vector<std::string>& paths);
/// `--baseline OLD`, which may be given again, for `purpose`, and `--other-machine`.
void add_baseline(CLI::App& command, std::vector<std::string>& paths, judge::BaselineOptions& options,
                  const std::string& purpose);
/// A file of `history`. Warnings go to standard error. Throws ReportError.
std::vector<judge::HistoryPoint> read_history_file(const std::string& path);
/// Whether there is nothing in it to compare with.
bool holds_nothing(const judge::Baseline& baseline);
/// To the file, whole or not at all, or to standard output when `file` is empty. Throws std::system_error.
void write_output(const std::string& text, const std::string& file);

/// `NAME RESULTS… [-o FILE]`: a command that is a pure function from a report to a text. Further options may be added
/// to what is returned.
CLI::App* add_text_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                           std::function<std::string(const Report&)> write);

// For check(). CLI11's own, Range and PositiveNumber, let NaN pass.

/// Accepts a finite number from `low` to `high`.
CLI::Validator number_between(double low, double high);
/// Accepts a finite number above 0.
CLI::Validator positive_number();

}  // namespace torchstone
