#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "reports/record/json.h"

namespace torchstone {

/// What every subcommand does alike. Exit codes: 0 done, 2 unusable input (a ReportError, which main prints), 3 no
/// results found, 4 a writer failed.
inline constexpr int no_results = 3, report_not_written = 4;

/// `RESULTS…`: results folders or results.json files, at least one.
CLI::Option* add_inputs(CLI::App& command, std::vector<std::string>& inputs);
/// `-o,--out FILE`; without it standard output.
CLI::Option* add_output(CLI::App& command, std::string& file);

/// The inputs as one report; warnings go to standard error. Nothing, with a line there, when they hold no results.
/// Throws ReportError.
std::optional<Report> read_inputs(const std::vector<std::string>& inputs);
/// To the file, whole or not at all, or to standard output when `file` is empty. Throws std::system_error.
void write_output(const std::string& text, const std::string& file);

/// `NAME RESULTS… [-o FILE]`: a command that is a pure function from a report to a text. Further options may be added
/// to what is returned.
CLI::App* add_text_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                           std::function<std::string(const Report&)> write);

}  // namespace torchstone
