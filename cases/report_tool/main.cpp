// torchstone-report: works on results that are already there.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cases/report_tool/claim.h"
#include "cases/report_tool/compare.h"
#include "cases/report_tool/diff.h"
#include "cases/report_tool/gate.h"
#include "cases/report_tool/history.h"
#include "cases/report_tool/html.h"
#include "cases/report_tool/merge.h"
#include "cases/report_tool/texts.h"
#include "reports/base/version.h"

int main(int argc, char** argv) {
  int exit_code = 0;
  CLI::App app("Merges and compares the results of Torchstone runs", "torchstone-report");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("torchstone-report {}", torchstone::version()));
  torchstone::add_merge_command(app, exit_code);
  torchstone::add_compare_command(app, exit_code);
  torchstone::add_text_commands(app, exit_code);
  torchstone::add_diff_command(app, exit_code);
  torchstone::add_html_command(app, exit_code);
  torchstone::add_history_command(app, exit_code);
  torchstone::add_gate_command(app, exit_code);
  torchstone::add_claim_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // --help is no error; everything else is usage
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return exit_code;
}
