#include "cases/report_tool/html.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/report_tool/inputs.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/results_folder/diagnosis_files.h"
#include "reports/write/html/page.h"

namespace torchstone {
namespace {

struct HtmlArguments {
  std::vector<std::string> inputs;
  std::vector<std::string> baseline;
  std::string history, out = "report.html";
  judge::BaselineOptions options;
};

int write_page(const HtmlArguments& arguments) {
  auto report = read_inputs(arguments.inputs);
  if (!report) return ExitCode::nothing_judged;
  const std::filesystem::path folder = std::filesystem::absolute(arguments.out).parent_path();
  results_folder::relate_diagnoses(*report, {arguments.inputs.begin(), arguments.inputs.end()}, folder);
  write::PageOptions page;
  if (!arguments.history.empty()) page.history = read_history_file(arguments.history);
  if (!arguments.baseline.empty()) {
    const auto baseline = read_baseline(arguments.baseline);
    if (holds_nothing(baseline)) return ExitCode::nothing_judged;
    judge::BaselineOptions options = arguments.options;
    options.history = page.history;
    page.comparison = compare_with(baseline, *report, options);
    page.baseline_label = fmt::format("{}", fmt::join(arguments.baseline, ", "));
    if (!baseline.table) page.baseline_label += ", started " + baseline.report.run.started;
  }
  write_atomically(arguments.out, write::write_html(*report, page));
  print_text(arguments.out + "\n");
  return ExitCode::success;
}

}  // namespace

void add_html_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("html", "One self-contained page of a run, or of several, to read and to send");
  const auto arguments = std::make_shared<HtmlArguments>();
  add_inputs(*command, arguments->inputs);
  add_baseline(*command, arguments->baseline, arguments->options, ": what changed since comes first");
  command->add_option("--history", arguments->history, "File of torchstone-report history: trends of the speed-ups");
  command->add_option("-o,--out", arguments->out, "File for the page (HTML); its name is printed")
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = write_page(*arguments); });
}

}  // namespace torchstone
