// torchstone-report: works on existing results.
#include <algorithm>
#include <clocale>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/report_tool/commands.h"
#include "models/core/registration.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"

namespace {

/// Returns the plug-ins of the command line. They are loaded before it is parsed, because their writers become
/// commands.
std::vector<std::string> plugins_of(const std::vector<std::string>& arguments) {
  const std::string flag = "--plugin";
  std::vector<std::string> plugins;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(flag + "=")) plugins.push_back(arguments[i].substr(flag.size() + 1));
    if (arguments[i] == flag && i + 1 < arguments.size()) plugins.push_back(arguments[i + 1]);
  }
  return plugins;
}

/// Returns an error for an unknown command; empty for a known one or without a command.
std::string unknown_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return "";
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::ranges::find(names, arguments[0]) != names.end()) return "";
  return fmt::format(
      "torchstone-report: unknown command {} (expected one of {}; a plug-in's command needs --plugin=LIBRARY)",
      arguments[0], fmt::join(names, ", "));
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = torchstone::ExitCode::success;
  CLI::App app("Merges and compares the results of Torchstone runs", "torchstone-report");
  app.require_subcommand(1);
  app.fallthrough();  // allows --plugin after a command
  std::vector<std::string> plugins;
  app.add_option("--plugin", plugins, "Shared library of report writers; each becomes a command (repeatable)");
  app.set_version_flag("--version", fmt::format("torchstone-report {}", torchstone::version()));
  torchstone::add_merge_command(app, exit_code);
  torchstone::add_compare_command(app, exit_code);
  torchstone::add_diff_command(app, exit_code);
  torchstone::add_explain_command(app, exit_code);
  torchstone::add_html_command(app, exit_code);
  torchstone::add_history_command(app, exit_code);
  torchstone::add_gate_command(app, exit_code);
  torchstone::add_claim_command(app);
  torchstone::add_plan_command(app, exit_code);
  try {
    torchstone::open_standard_descriptors();
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    for (const auto& plugin : plugins_of(arguments)) torchstone::load_plugin(plugin);
    torchstone::add_text_commands(app, exit_code);  // last: each writer without a command gets one
    if (const auto error = unknown_command(app, arguments); !error.empty()) throw std::invalid_argument(error);
    // A plug-in may have set a locale with a decimal comma, and CLI11 reads numbers according to the locale.
    std::setlocale(LC_NUMERIC, "C");
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? torchstone::ExitCode::success
                                : torchstone::ExitCode::usage_error;  // --help is no error; everything else is usage
  } catch (const std::exception& error) {
    torchstone::print_error(error.what());
    return torchstone::ExitCode::usage_error;
  }
  return exit_code;
}
