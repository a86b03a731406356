#include "cases/report_tool/texts.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cases/report_tool/inputs.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/tables/upstream_csv.h"
#include "reports/write/csv.h"
#include "reports/write/markdown.h"
#include "reports/write/reports.h"

namespace torchstone {
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

}  // namespace torchstone
