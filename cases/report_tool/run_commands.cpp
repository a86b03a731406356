#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cases/report_tool/arguments.h"
#include "cases/report_tool/commands.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/console/summary_text.h"
#include "reports/record/results_folder/folder_lock.h"
#include "reports/record/results_folder/ownership.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/record/summary.h"
#include "reports/write/report_files.h"

namespace torchstone {

void add_claim_command(CLI::App& app) {
  auto* command = app.add_subcommand(
      "claim", "Empties a results folder and keeps other runs out of it while the process that started this one runs");
  const auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "The results folder")->required();
  command->callback([folder] {
    const results_folder::Hold hold(*folder, results_folder::parent_process(), [&] {
      results_folder::require_results_folder(*folder);
      results_folder::empty_results(*folder);
    });
  });
}

namespace {

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string out = ".";
  std::string junit_properties = "on";
};

int merge(const MergeArguments& arguments) {
  auto report = read_inputs(arguments.inputs);
  if (!report) return ExitCode::nothing_judged;
  results_folder::relate_diagnoses(*report, {arguments.inputs.begin(), arguments.inputs.end()}, arguments.out);
  const results_folder::Hold hold(arguments.out, this_process(results_folder::Holder::Kind::part));
  const auto written =
      write::write_reports(*report, arguments.out, {.testcase_properties = arguments.junit_properties == "on"});
  print_text(console::write_summary(report->results, report->run, written.paths, line_width()));
  for (const auto& fault : written.faults) print_error(fault);
  const bool cut_off =
      std::ranges::any_of(report->results, [](const Result& r) { return r.outcome.status == Status::interrupted; });
  if (cut_off) return ExitCode::interrupted;
  return written.faults.empty() ? ExitCode::success : ExitCode::infrastructure;
}

}  // namespace

void add_merge_command(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("merge", "One set of reports from several results folders; of a case the newest run counts");
  const auto arguments = std::make_shared<MergeArguments>();
  add_inputs(*command, arguments->inputs);
  command->add_option("-o,--out", arguments->out, "Where the reports go")->capture_default_str();
  command
      ->add_option("--junit-properties", arguments->junit_properties,
                   "Properties inside test cases; off for readers with a strict schema (Jenkins xUnit)")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = merge(*arguments); });
}

}  // namespace torchstone
