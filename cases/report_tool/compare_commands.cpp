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
#include "reports/base/text.h"
#include "reports/judge/baseline_input.h"
#include "reports/judge/baseline_report.h"
#include "reports/judge/history.h"
#include "reports/record/results_folder/merge_results.h"

namespace torchstone {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;  ///< baselines, then the new run
  std::string history;
  judge::BaselineOptions options;
  std::vector<std::string> fail_on{};  ///< empty: the default of judge::parse_fail_on()
  std::string format = "text";
  bool all = false;
};

/// Returns why the exit code is 1, and which options accept cases that are gone or have another model.
std::string failure_message(const judge::BaselineComparison& comparison, const std::vector<judge::Change>& fail_on) {
  std::string message = fmt::format("{}", fmt::join(judge::red_sentences(comparison, fail_on), "; "));
  if (!judge::is_red_by_coverage(comparison, fail_on)) return message;
  const auto is_absent = [](const judge::CaseChange& change) { return change.lost && change.new_status.empty(); };
  if (std::ranges::any_of(comparison.cases, is_absent)) message += "; --allow-absent lets absent cases pass";
  return message + "; --fail-on slower lets cases that are gone or of another model pass";
}

int compare_reports(const CompareArguments& arguments) {
  const auto fail_on = judge::parse_fail_on(arguments.fail_on);
  const std::vector<std::string> old_paths(arguments.runs.begin(), arguments.runs.end() - 1);
  const std::string& new_path = arguments.runs.back();
  const auto baseline = read_baseline(old_paths);
  judge::BaselineOptions options = arguments.options;
  if (!arguments.history.empty()) options.history = read_history_file(arguments.history);
  const results_folder::Merged merged = results_folder::merge_results({new_path});
  print_warnings(merged.warnings);
  const auto comparison = compare_with(baseline, merged.report, options);
  if (arguments.format == "json")
    write_output(write_comparison_json(comparison), "");
  else if (arguments.format == "csv")
    write_output(write_comparison_csv(comparison), "");
  else
    print_text(write_comparison(comparison, arguments.all));
  const int code = exit_code_of(comparison, fail_on);
  const std::string refusal = refusal_words(comparison);
  if (code == ExitCode::gate_failed) print_error(failure_message(comparison, fail_on));
  if (code == ExitCode::usage_error)
    print_error(
        fmt::format("{}; {} compares them anyway, --metrics selects others", refusal, allowing_options(comparison)));
  if (code == ExitCode::nothing_judged)
    print_error(fmt::format("{} ({} against {})", refusal, new_path, fmt::join(old_paths, ", ")));
  return code;
}

struct HistoryArguments {
  std::vector<std::string> inputs;
  std::string out, metric = "speedup";
};

/// Reads a history file, or one run.
std::vector<judge::HistoryPoint> read_points(const std::string& input) {
  if (std::filesystem::path(input).extension() == ".jsonl") return read_history_file(input);
  const auto report = read_inputs({input});
  return report ? judge::history_points(*report) : std::vector<judge::HistoryPoint>{};
}

int history(const HistoryArguments& arguments) {
  std::vector<judge::HistoryPoint> points;
  if (std::filesystem::exists(arguments.out)) points = read_points(arguments.out);
  for (const auto& input : arguments.inputs) points = unite_histories(std::move(points), read_points(input));
  if (points.empty()) {
    print_error("no runs (expected results folders, or an existing history with --out)");
    return ExitCode::nothing_judged;
  }
  if (const auto known = judge::known_metrics(points); !known.contains(arguments.metric)) {
    print_error(fmt::format("--metric {}: {}", arguments.metric,
                            expected_one_of(arguments.metric, {known.begin(), known.end()})));
    return ExitCode::usage_error;
  }
  if (!arguments.out.empty()) write_atomically(arguments.out, write_history(points));
  print_text(history_table(points, arguments.metric, terminal_width()));
  return ExitCode::success;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("compare",
                         "Compare the results of two runs, case by case. Exit codes: 0 nothing is worse, 1 "
                         "something is, 2 unusable, from another machine or another torch, 3 nothing to compare");
  const auto arguments = std::make_shared<CompareArguments>();
  auto& options = arguments->options;
  command
      ->add_option("RUNS", arguments->runs,
                   "OLD… NEW: the baseline (results folder, results.json, or CSV of benchmarks/dynamo; or the results "
                   "of several runs of the same code), then the results folder or results.json to judge")
      ->required()
      ->expected(2, -1);
  command->add_option("--tolerance", options.tolerance, "Fraction by which a timing may change and still be SAME")
      ->capture_default_str();
  command->add_option("--confidence", options.confidence, "Confidence level of the intervals that decide about changes")
      ->capture_default_str();
  command
      ->add_option("--family-error", options.family_error,
                   "Chance that a comparison of unchanged code calls any timing SLOWER")
      ->capture_default_str();
  command->add_option("--history", arguments->history,
                      "File of torchstone-report history: how far runs of unchanged code differ on this machine");
  command->add_option("--metrics", options.metrics, "Compare only these metrics, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option(
          "--fail-on", arguments->fail_on,
          "Exit with 1 for these changes: slower,faster,ambiguous,more,less,fixed,new,gone,different_model. A worse "
          "status always fails; more and less are of bytes and counts; gone is a case that the baseline measured as "
          "expected and that is skipped or absent now")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str(judge::default_fail_on_words());
  command->add_flag("--allow-absent", options.allow_absent,
                    "Accept cases that only the baseline has, where NEW ran a part of its cases");
  command->add_flag("--other-machine", options.other_machine, "Compare timings even if the machines differ");
  command->add_flag("--other-torch", options.other_torch, "Compare timings even if the releases of torch differ");
  command->add_flag("--all", arguments->all, "Also show what is SAME");
  command->add_option("--format", arguments->format)
      ->check(CLI::IsMember({"text", "json", "csv"}))
      ->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = compare_reports(*arguments); });
}

void add_history_command(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("history", "Show the trend of a metric over runs, and the run where it changed");
  const auto arguments = std::make_shared<HistoryArguments>();
  command->add_option("RESULTS", arguments->inputs,
                      "Results folders, results.json files (one run each) or history.jsonl files");
  command->add_option("-o,--out", arguments->out, "history.jsonl: adds runs that it lacks and shows all of it");
  command->add_option("--metric", arguments->metric, "Metric to show")->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = history(*arguments); });
}

}  // namespace torchstone
