#include "cases/report_tool/commands.h"

#include <cmath>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/record/results_folder/merge_results.h"

namespace torchstone {
namespace {

CLI::Validator number_that(const std::function<bool(double)>& accepts, const std::string& expected) {
  const auto check = [accepts, expected](const std::string& text) {
    const auto value = parse_number(text);
    const bool valid = value && std::isfinite(*value) && accepts(*value);
    return valid ? std::string() : fmt::format("expected {}, found {}", expected, text);
  };
  return {check, expected, ""};
}

}  // namespace

CLI::Option* add_inputs(CLI::App& command, std::vector<std::string>& inputs) {
  return command.add_option("RESULTS", inputs, "Results folders, or results.json files")->required();
}

CLI::Option* add_output(CLI::App& command, std::string& file) {
  return command.add_option("-o,--out", file, "File for the text (default: standard output)");
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) print_error("warning: " + warning);
}

std::optional<Report> read_inputs(const std::vector<std::string>& inputs) {
  results_folder::Merged merged = results_folder::merge_results({inputs.begin(), inputs.end()});
  print_warnings(merged.warnings);
  if (!merged.report.results.empty()) return std::move(merged.report);
  print_error(fmt::format("no results in {}", fmt::join(inputs, ", ")));
  return std::nullopt;
}

judge::Baseline read_baseline(const std::vector<std::string>& paths) {
  judge::Baseline baseline = judge::read_baseline(paths);
  print_warnings(baseline.warnings);
  if (is_empty(baseline)) print_error(fmt::format("no results in {}", fmt::join(paths, ", ")));
  return baseline;
}

void add_baseline(CLI::App& command, std::vector<std::string>& paths, judge::BaselineOptions& options,
                  const std::string& purpose) {
  command
      .add_option(
          "--baseline", paths,
          fmt::format(
              "Results of an older run, or CSV of benchmarks/dynamo{}; repeat for further runs of the same code",
              purpose))
      ->allow_extra_args(false);
  command.add_flag("--other-machine", options.other_machine,
                   "Compare timings even if the baseline is from another machine");
  command.add_flag("--other-torch", options.other_torch,
                   "Compare timings even if the baseline is from another release of torch");
}

std::vector<judge::HistoryPoint> read_history_file(const std::string& path) {
  std::vector<std::string> warnings;
  auto points = judge::read_history(path, &warnings);
  print_warnings(warnings);
  return points;
}

bool is_empty(const judge::Baseline& baseline) { return !baseline.table && baseline.report.results.empty(); }

void write_output(const std::string& text, const std::string& file) {
  if (file.empty())
    fmt::print("{}", text);
  else
    write_atomically(file, text);
}

CLI::Validator number_between(double low, double high) {
  return number_that([=](double value) { return value >= low && value <= high; },
                     fmt::format("a number from {} to {}", low, high));
}

CLI::Validator positive_number() {
  return number_that([](double value) { return value > 0; }, "a finite number above 0");
}

}  // namespace torchstone
