#include "cases/report_tool/arguments.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/results_folder/merge_results.h"

namespace torchstone {

CLI::Option* add_inputs(CLI::App& command, std::vector<std::string>& inputs) {
  return command.add_option("RESULTS", inputs, "Results folders, or results.json files")->required();
}

CLI::Option* add_output(CLI::App& command, std::string& file, const std::string& what) {
  return command.add_option("-o,--out", file, fmt::format("File for {}; standard output when not given", what));
}

std::optional<Report> read_inputs(const std::vector<std::string>& inputs) {
  results_folder::Merged merged = results_folder::merge_results({inputs.begin(), inputs.end()});
  for (const auto& warning : merged.warnings) print_error("warning: " + warning);
  if (!merged.report.results.empty()) return std::move(merged.report);
  print_error(fmt::format("no results in {}", fmt::join(inputs, ", ")));
  return std::nullopt;
}

judge::Baseline read_baseline(const std::vector<std::string>& paths) {
  judge::Baseline baseline = judge::read_baseline(paths);
  for (const auto& warning : baseline.warnings) print_error("warning: " + warning);
  if (holds_nothing(baseline)) print_error(fmt::format("no results in {}", fmt::join(paths, ", ")));
  return baseline;
}

void add_baseline(CLI::App& command, std::vector<std::string>& paths, judge::BaselineOptions& options,
                  const std::string& purpose) {
  command
      .add_option("--baseline", paths,
                  fmt::format("Results of an older run, or CSV of benchmarks/dynamo{}; may be given again for further "
                              "runs of the same code",
                              purpose))
      ->allow_extra_args(false);
  command.add_flag("--other-machine", options.other_machine,
                   "Compare timings although the baseline is of another machine");
}

std::vector<judge::HistoryPoint> read_history_file(const std::string& path) {
  std::vector<std::string> warnings;
  auto points = judge::read_history(path, &warnings);
  for (const auto& warning : warnings) print_error("warning: " + warning);
  return points;
}

bool holds_nothing(const judge::Baseline& baseline) { return !baseline.table && baseline.report.results.empty(); }

void write_output(const std::string& text, const std::string& file) {
  if (file.empty())
    fmt::print("{}", text);
  else
    write_atomically(file, text);
}

CLI::App* add_text_command(CLI::App& app, int& exit_code, const std::string& name, const std::string& help,
                           std::function<std::string(const Report&)> write) {
  struct Arguments {
    std::vector<std::string> inputs;
    std::string out;
  };
  auto* command = app.add_subcommand(name, help);
  const auto arguments = std::make_shared<Arguments>();
  add_inputs(*command, arguments->inputs);
  add_output(*command, arguments->out);
  command->callback([arguments, write = std::move(write), &exit_code] {
    const auto report = read_inputs(arguments->inputs);
    if (report) write_output(write(*report), arguments->out);
    exit_code = report ? ExitCode::success : ExitCode::nothing_judged;
  });
  return command;
}

namespace {

CLI::Validator number_that(const std::function<bool(double)>& fits, const std::string& words) {
  const auto check = [fits, words](const std::string& text) {
    const auto value = parse_number(text);
    const bool good = value && std::isfinite(*value) && fits(*value);
    return good ? std::string() : fmt::format("expected {}, found {}", words, text);
  };
  return {check, words, ""};
}

}  // namespace

CLI::Validator number_between(double low, double high) {
  return number_that([=](double value) { return value >= low && value <= high; },
                     fmt::format("a number from {} to {}", low, high));
}

CLI::Validator positive_number() {
  return number_that([](double value) { return value > 0; }, "a finite number above 0");
}

}  // namespace torchstone
