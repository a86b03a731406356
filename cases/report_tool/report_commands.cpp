#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/report_tool/commands.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/console/summary_text.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/results_folder/folder_lock.h"
#include "reports/record/results_folder/ownership.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/record/summary.h"
#include "reports/record/tables/dynamo_csv.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "reports/write/report_files.h"

namespace torchstone {
namespace {

/// Arguments of a report, with an optional baseline and history.
struct ComparedArguments {
  std::vector<std::string> inputs, baseline;
  std::string history, out;
  judge::BaselineOptions comparison;
};

int write_page(const ComparedArguments& arguments) {
  auto report = read_inputs(arguments.inputs);
  if (!report) return ExitCode::nothing_judged;
  const std::filesystem::path folder = std::filesystem::absolute(arguments.out).parent_path();
  results_folder::relate_diagnoses(*report, {arguments.inputs.begin(), arguments.inputs.end()}, folder);
  write::PageOptions page;
  if (!arguments.history.empty()) page.history = read_history_file(arguments.history);
  if (!arguments.baseline.empty()) {
    const auto baseline = read_baseline(arguments.baseline);
    if (is_empty(baseline)) return ExitCode::nothing_judged;
    judge::BaselineOptions options = arguments.comparison;
    options.history = page.history;
    page.comparison = compare_with(baseline, *report, options);
    page.baseline_label = fmt::format("{}", fmt::join(arguments.baseline, ", "));
    if (!baseline.table) page.baseline_label += ", started " + baseline.report.run.started;
  }
  write_atomically(arguments.out, write::write_html(*report, page));
  print_text(arguments.out + "\n");
  return ExitCode::success;
}

struct MarkdownArguments : ComparedArguments {
  size_t limit = write::MarkdownOptions{}.limit;
};

int write_markdown_file(const MarkdownArguments& arguments) {
  const auto report = read_inputs(arguments.inputs);
  if (!report) return ExitCode::nothing_judged;
  write::MarkdownOptions options{.limit = arguments.limit};
  judge::BaselineOptions comparison = arguments.comparison;
  if (!arguments.history.empty()) comparison.history = read_history_file(arguments.history);
  if (!arguments.baseline.empty())
    options.comparison = compare_with(read_baseline(arguments.baseline), *report, comparison);
  write_output(write_markdown(*report, options), arguments.out);
  return ExitCode::success;
}

void add_markdown(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("markdown", "Text for a job summary or a comment on GitHub");
  const auto arguments = std::make_shared<MarkdownArguments>();
  add_inputs(*command, arguments->inputs);
  add_output(*command, arguments->out);
  add_baseline(*command, arguments->baseline, arguments->comparison, ", to show what changed since");
  command->add_option("--history", arguments->history, "File of torchstone-report history: how far runs differ");
  command->add_option("--limit", arguments->limit, "Upper limit in bytes; the text counts what it leaves out")
      ->capture_default_str()
      ->check(CLI::Range(size_t{2000}, size_t{1} << 30));
  command->callback([arguments, &exit_code] { exit_code = write_markdown_file(*arguments); });
}

int write_csvs(const std::vector<std::string>& inputs, const std::string& folder) {
  const auto report = read_inputs(inputs);
  if (!report) return ExitCode::nothing_judged;
  const std::string wide = write::write_wide_csv(report->results);
  write_output(wide, folder.empty() ? "" : folder + "/results.csv");
  if (folder.empty()) return ExitCode::success;
  for (const auto& [name, text] : tables::write_upstream_csvs(report->results))
    write_output(text, folder + "/csv/" + name);
  for (const auto& [name, text] : tables::write_dynamo_csvs(report->results))
    write_output(text, folder + "/csv/" + name);
  return ExitCode::success;
}

struct OutputArguments {
  std::vector<std::string> inputs;
  std::string out;  ///< file or folder
};

void add_csv(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<OutputArguments>();
  auto* command = app.add_subcommand("csv", "Write a table of everything, and the tables of PyTorch's own benchmarks");
  add_inputs(*command, arguments->inputs);
  command->add_option("-o,--out", arguments->out,
                      "Folder for results.csv and csv/ (PyTorch's); by default results.csv goes to standard output");
  command->callback([arguments, &exit_code] { exit_code = write_csvs(arguments->inputs, arguments->out); });
}

int write_report(const ReportWriter& writer, const std::vector<std::string>& inputs, const std::string& out) {
  const auto report = read_inputs(inputs);
  if (!report) return ExitCode::nothing_judged;
  const NamedTexts texts = write::texts_of(writer, *report);
  if (writer.text) write_output(texts.empty() ? "" : texts[0].second, out);
  if (!writer.files) return ExitCode::success;
  for (const auto& [name, text] : texts) {
    const std::string path = out + "/" + name;
    if (text.empty()) {
      std::filesystem::remove(path);  // may exist from an earlier run
      continue;
    }
    write_output(text, path);
    print_text(path + "\n");
  }
  return ExitCode::success;
}

void add_writer(CLI::App& app, const ReportWriter& writer, int& exit_code) {
  const auto arguments = std::make_shared<OutputArguments>();
  auto* command = app.add_subcommand(writer.name, writer.help);
  add_inputs(*command, arguments->inputs);
  if (writer.text)
    add_output(*command, arguments->out);
  else
    command->add_option("-o,--out", arguments->out, "Folder for the files; their names are printed")->required();
  command->callback(
      [arguments, &writer, &exit_code] { exit_code = write_report(writer, arguments->inputs, arguments->out); });
}

std::string explained(const Result& result) {
  std::string text =
      fmt::format("{}\n  {}: {}\n", result.name, to_string(result.outcome.status), result.outcome.reason);
  if (const std::string& why = result.outcome.undiagnosed; !why.empty()) return text + fmt::format("  {}\n", why);
  const auto& found = result.outcome.diagnosis;
  if (!found)
    return text +
           "  no diagnosis: --torchstone_diagnose=always makes one where the backend compiles parts of a program\n";
  text += fmt::format("  {}: {}\n", to_string(found->outcome), found->sentence);
  for (const auto& line : lines_of(*found)) text += fmt::format("  {:<18} {}\n", line.title, line.text);
  if (!found->folder.empty()) text += fmt::format("  {:<18} {}\n", "files", found->folder);
  return text;
}

int explain(const std::string& name, const std::vector<std::string>& inputs) {
  auto report = read_inputs(inputs);
  if (!report) return ExitCode::nothing_judged;
  results_folder::relate_diagnoses(*report, {inputs.begin(), inputs.end()}, std::filesystem::current_path());
  std::string text;
  for (const auto& result : report->results)
    if (result.name.find(name) != std::string::npos) text += explained(result);
  if (text.empty()) {
    print_error(fmt::format("torchstone-report: the name of no case in these results contains {}", name));
    return ExitCode::nothing_judged;
  }
  print_text(text);
  return ExitCode::success;
}

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string out = ".";
  std::string junit_properties = "on";
  bool exit_code = false;
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
  const int of_cases = arguments.exit_code ? exit_code_of(report->results, false) : ExitCode::success;
  if (of_cases != ExitCode::success) return of_cases;
  return written.faults.empty() ? ExitCode::success : ExitCode::infrastructure;
}

}  // namespace

void add_html_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("html", "Write one self-contained page about one or several runs");
  const auto arguments = std::make_shared<ComparedArguments>();
  arguments->out = "report.html";
  add_inputs(*command, arguments->inputs);
  add_baseline(*command, arguments->baseline, arguments->comparison, ", to show first what changed since");
  command->add_option("--history", arguments->history,
                      "File of torchstone-report history, for trends of the speed-ups");
  command->add_option("-o,--out", arguments->out, "File for the page (HTML); its name is printed")
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = write_page(*arguments); });
}

void add_text_commands(CLI::App& app, int& exit_code) {
  add_markdown(app, exit_code);
  add_csv(app, exit_code);
  for (const ReportWriter* writer : report_writers()) {
    const auto is_its_command = [&](const CLI::App* command) { return command->get_name() == writer->name; };
    if (app.get_subcommands(is_its_command).empty()) add_writer(app, *writer, exit_code);
  }
}

void add_explain_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("explain", "Print what a diagnosis found about a wrong compiled program");
  const auto name = std::make_shared<std::string>();
  const auto inputs = std::make_shared<std::vector<std::string>>();
  command->add_option("case", *name, "Part of the case's name")->required();
  add_inputs(*command, *inputs);
  command->callback([name, inputs, &exit_code] { exit_code = explain(*name, *inputs); });
}

void add_merge_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "merge", "Write one set of reports from several results folders; the newest run of each case counts");
  const auto arguments = std::make_shared<MergeArguments>();
  add_inputs(*command, arguments->inputs);
  command->add_option("-o,--out", arguments->out, "Folder for the reports")->capture_default_str();
  command
      ->add_option("--junit-properties", arguments->junit_properties,
                   "Write properties inside test cases; off for readers with a strict schema (Jenkins xUnit)")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command->add_flag("--exit-code", arguments->exit_code, "Exit with the code that one run of all these cases has");
  command->callback([arguments, &exit_code] { exit_code = merge(*arguments); });
}

void add_claim_command(CLI::App& app) {
  auto* command =
      app.add_subcommand("claim", "Empty a results folder and keep other runs out of it while the parent process runs");
  const auto folder = std::make_shared<std::string>();
  command->add_option("folder", *folder, "The results folder")->required();
  command->callback([folder] {
    const results_folder::Hold hold(*folder, results_folder::parent_process(), [&] {
      results_folder::require_results_folder(*folder);
      results_folder::empty_results(*folder);
    });
  });
}

}  // namespace torchstone
