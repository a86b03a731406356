#include "cases/report_tool/merge.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cases/report_tool/inputs.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/console/summary_text.h"
#include "reports/record/summary.h"
#include "reports/results_folder/diagnosis_files.h"
#include "reports/results_folder/hold.h"
#include "reports/write/reports.h"

namespace torchstone {
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
