#include "cases/report_tool/history.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cases/report_tool/inputs.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/judge/history.h"
#include "reports/judge/history_table.h"

namespace torchstone {
namespace {

struct HistoryArguments {
  std::vector<std::string> inputs;
  std::string out, metric = "speedup";
};

/// Of a history file, or of one run.
std::vector<judge::HistoryPoint> points_of(const std::string& input) {
  if (std::filesystem::path(input).extension() == ".jsonl") {
    std::vector<std::string> warnings;
    auto points = judge::read_history(input, &warnings);
    for (const auto& warning : warnings) print_error("warning: " + warning);
    return points;
  }
  const auto report = read_inputs({input});
  return report ? judge::history_points(*report) : std::vector<judge::HistoryPoint>{};
}

int history(const HistoryArguments& arguments) {
  std::vector<judge::HistoryPoint> points;
  if (std::filesystem::exists(arguments.out)) points = points_of(arguments.out);
  for (const auto& input : arguments.inputs) points = unite_histories(std::move(points), points_of(input));
  if (points.empty()) {
    print_error("no runs: give their results folders, or an existing history with --out");
    return ExitCode::nothing_judged;
  }
  if (const auto known = judge::metrics_of(points); !known.contains(arguments.metric)) {
    print_error(fmt::format("--metric {}: {}", arguments.metric,
                            expected_one_of(arguments.metric, {known.begin(), known.end()})));
    return ExitCode::usage_error;
  }
  if (!arguments.out.empty()) write_atomically(arguments.out, write_history(points));
  print_text(history_table(points, arguments.metric, terminal_width()));
  return ExitCode::success;
}

}  // namespace

void add_history_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("history", "Trend of a metric over runs, and since which run it is another");
  const auto arguments = std::make_shared<HistoryArguments>();
  command->add_option("RESULTS", arguments->inputs,
                      "One run each: results folders, results.json files, history.jsonl files");
  command->add_option("-o,--out", arguments->out,
                      "history.jsonl: runs that it lacks are added, and all of it is shown");
  command->add_option("--metric", arguments->metric, "What is shown")->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = history(*arguments); });
}

}  // namespace torchstone
