#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/report_tool/arguments.h"
#include "cases/report_tool/commands.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/record/diagnosis_text.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/write/html/page.h"
#include "reports/write/markdown.h"
#include "reports/write/report_files.h"
#include "reports/write/results_csv.h"

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

namespace {

void add_markdown(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::vector<std::string> baseline;
    std::string history;
    size_t limit = write::MarkdownOptions{}.limit;
    judge::BaselineOptions comparison;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = add_text_command(
      app, exit_code, "markdown", "For a job summary or a comment on GitHub", [arguments](const Report& report) {
        write::MarkdownOptions options{.limit = arguments->limit};
        judge::BaselineOptions comparison = arguments->comparison;
        if (!arguments->history.empty()) comparison.history = read_history_file(arguments->history);
        if (!arguments->baseline.empty())
          options.comparison = compare_with(read_baseline(arguments->baseline), report, comparison);
        return write_markdown(report, options);
      });
  add_baseline(*command, arguments->baseline, arguments->comparison, ", to say what changed since");
  command->add_option("--history", arguments->history, "File of torchstone-report history: how much runs differ");
  command->add_option("--limit", arguments->limit, "Bytes; what does not fit is counted")
      ->capture_default_str()
      ->check(CLI::Range(size_t{2000}, size_t{1} << 30));
}

int write_csvs(const std::vector<std::string>& inputs, const std::string& folder) {
  const auto report = read_inputs(inputs);
  if (!report) return ExitCode::nothing_judged;
  const std::string wide = write::write_wide_csv(report->results);
  write_output(wide, folder.empty() ? "" : folder + "/results.csv");
  if (folder.empty()) return ExitCode::success;
  for (const auto& [name, text] : tables::write_upstream_csvs(report->results))
    write_output(text, folder + "/csv/" + name);
  return ExitCode::success;
}

void add_csv(CLI::App& app, int& exit_code) {
  struct Arguments {
    std::vector<std::string> inputs;
    std::string folder;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("csv", "A table of everything, and the tables of PyTorch's own benchmarks");
  add_inputs(*command, arguments->inputs);
  command->add_option("-o,--out", arguments->folder,
                      "Folder for results.csv and csv/ (PyTorch's); without it results.csv goes to standard output");
  command->callback([arguments, &exit_code] { exit_code = write_csvs(arguments->inputs, arguments->folder); });
}

bool has_command(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; }).empty();
}

int write_alone(const ReportWriter& writer, const std::vector<std::string>& inputs, const std::string& out) {
  const auto report = read_inputs(inputs);
  if (!report) return ExitCode::nothing_judged;
  const NamedTexts texts = write::texts_of(writer, *report);
  if (writer.text) write_output(texts.empty() ? "" : texts[0].second, out);
  for (const auto& [name, text] : texts) {
    if (writer.files) write_output(text, out + "/" + name);
    if (writer.files) print_text(fmt::format("{}/{}\n", out, name));
  }
  return ExitCode::success;
}

void add_writer(CLI::App& app, const ReportWriter& writer, int& exit_code) {
  struct Arguments {
    std::vector<std::string> inputs;
    std::string out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand(writer.name, writer.help);
  add_inputs(*command, arguments->inputs);
  if (writer.text)
    add_output(*command, arguments->out);
  else
    command->add_option("-o,--out", arguments->out, "Folder for the files; their names are printed")->required();
  command->callback(
      [arguments, &writer, &exit_code] { exit_code = write_alone(writer, arguments->inputs, arguments->out); });
}

}  // namespace

void add_text_commands(CLI::App& app, int& exit_code) {
  add_markdown(app, exit_code);
  add_csv(app, exit_code);
  for (const ReportWriter* writer : report_writers())
    if (!has_command(app, writer->name)) add_writer(app, *writer, exit_code);
}

namespace {

std::string explained(const Result& result) {
  std::string text =
      fmt::format("{}\n  {}: {}\n", result.name, to_string(result.outcome.status), result.outcome.reason);
  if (const std::string why = why_undiagnosed(result); !why.empty()) return text + fmt::format("  {}\n", why);
  const auto found = found_for(result);
  if (!found)
    return text +
           "  no diagnosis: --torchstone_diagnose=always makes one where the backend compiles parts of a program\n";
  text += fmt::format("  {}: {}\n", found->outcome, found->sentence);
  for (const auto& line : lines_of(*found)) text += fmt::format("  {:<18} {}\n", line.title, line.text);
  if (const auto folder = result.outcome.notes.find("diagnosis_folder"); folder != result.outcome.notes.end())
    text += fmt::format("  {:<18} {}\n", "files", folder->second);
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
    print_error(fmt::format("torchstone-report: no case of these results has {} in its name", name));
    return ExitCode::nothing_judged;
  }
  print_text(text);
  return ExitCode::success;
}

}  // namespace

void add_explain_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("explain", "What was found about why a compiled program is wrong");
  const auto name = std::make_shared<std::string>();
  const auto inputs = std::make_shared<std::vector<std::string>>();
  command->add_option("case", *name, "A part of the case's name")->required();
  add_inputs(*command, *inputs);
  command->callback([name, inputs, &exit_code] { exit_code = explain(*name, *inputs); });
}

}  // namespace torchstone
