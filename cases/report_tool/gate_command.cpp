#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cases/report_tool/commands.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/judge/table_gate.h"
#include "reports/judge/upstream_tables.h"

namespace torchstone {
namespace {

/// Functions that judge tables.
struct TableJudge {
  std::function<std::vector<judge::GateRow>(const CsvTable& actual)> judge;
  /// Returns all tables that need a counterpart; empty: none do. Called once for each judged table.
  std::function<const std::vector<CsvTable>&()> expected{};
  std::function<std::vector<judge::GateRow>(const CsvTable& expected)>
      judge_absent{};  ///< judges a table without a counterpart
};

/// Warns about unknown names. They are no error, because one list of flaky models may serve several jobs.
void warn_of_unknown(const std::vector<std::string>& flaky, const std::vector<judge::GateRow>& rows) {
  std::set<std::string> names;
  for (const auto& row : rows) names.insert(row.name);
  if (names.empty()) return;
  for (const auto& name : flaky)
    if (!names.contains(name))
      print_error(fmt::format("warning: --flaky {}: no model here has this name ({})", name,
                              expected_one_of(name, {names.begin(), names.end()})));
}

/// Judges each table that has `column`, prints it, and returns the exit code of all: 0 green, 1 red, 3 nothing
/// judged. With `strict_undecided`, green becomes 5 where a speed-up is too noisy to be judged. Warns about a
/// flaky model that no table has.
int judge_tables(const std::vector<std::string>& paths, const std::string& column,
                 const std::vector<std::string>& flaky, const TableJudge& how, bool strict_undecided = false) {
  std::vector<judge::GateRow> all;
  std::vector<CsvTable> seen;
  const auto add = [&](const CsvTable& table, const std::vector<judge::GateRow>& rows) {
    print_text(fmt::format("{}\n{}", terminal_line(table.file), gate_text(rows)));
    all.insert(all.end(), rows.begin(), rows.end());
  };
  for (const auto& path : paths) {
    const auto tables = judge::upstream_tables(path, column);
    if (tables.empty()) print_error(fmt::format("{}: no table has a column {}", path, column));
    for (const auto& table : tables) {
      add(table, how.judge(table));
      seen.push_back(table);
    }
  }
  if (how.expected && !seen.empty())
    for (const auto& table : judge::without_counterpart(seen, how.expected())) add(table, how.judge_absent(table));
  warn_of_unknown(flaky, all);
  const int code = gate_exit_code(all);
  const bool any_noisy = std::ranges::any_of(all, [](const auto& row) { return row.verdict == "NOISY"; });
  if (code == ExitCode::nothing_judged)
    print_error(any_noisy ? "nothing was judged: the speed-ups are noisy, and none is decided"
                          : "nothing was judged: no model has a status to compare");
  if (code != ExitCode::success || !strict_undecided || !any_noisy) return code;
  print_error("undecided: a speed-up is noisy");
  return ExitCode::undecided;
}

struct GateArguments {
  std::string actual, expected;
  std::vector<std::string> flaky;
  bool allow_absent = false, strict_undecided = false;
  double part = judge::GateOptions{}.part;
  std::vector<std::string> files;
  judge::SpeedTarget target;
  judge::GateOptions options() const { return {{flaky.begin(), flaky.end()}, allow_absent, part}; }
};

/// Returns the expectations without a file: every model passes unless it was skipped.
CsvTable all_passing(CsvTable actual) {
  const size_t accuracy = actual.require_column("accuracy");
  for (auto& row : actual.rows)
    if (row.cells[accuracy] != to_string(Status::pass_due_to_skip)) row.cells[accuracy] = to_string(Status::pass);
  return actual;
}

using Compare = std::vector<judge::GateRow> (*)(const CsvTable&, const CsvTable&, const judge::GateOptions&);

CLI::App* add_comparison(CLI::App& gate, const char* name, const char* help, const char* column, Compare compare,
                         const std::shared_ptr<GateArguments>& arguments, int& exit_code) {
  auto* command = gate.add_subcommand(name, help);
  const char* kinds = "FILE.csv in upstream's format, a folder of such files, results.json or a results folder";
  command->add_option("-f,--file,--actual", arguments->actual, kinds)->required();
  command->add_option("--expected", arguments->expected, kinds)->required();
  command->add_option("--flaky", arguments->flaky, "Models whose differences are shown but not judged")->delimiter(',');
  command->add_flag("--allow-absent", arguments->allow_absent,
                    "Accept models that are only expected, as upstream does");
  command->callback([=, &exit_code] {
    TableJudge how;
    if (arguments->expected.empty()) {
      how.judge = [&](const CsvTable& actual) { return compare(actual, all_passing(actual), arguments->options()); };
    } else {
      // Reads the expected tables once, and after the actual ones, so that errors of the latter are reported first.
      how.expected = [&, read = std::optional<std::vector<CsvTable>>()]() mutable -> const std::vector<CsvTable>& {
        if (!read) read = judge::upstream_tables(arguments->expected, column);
        return *read;
      };
      how.judge = [&](const CsvTable& actual) {
        return compare(actual, judge::find_counterpart(actual, how.expected()), arguments->options());
      };
      how.judge_absent = [&](const CsvTable& expected) { return judge::absent_models(expected, arguments->options()); };
    }
    exit_code = judge_tables({arguments->actual}, column, arguments->flaky, how);
  });
  return command;
}

void add_speedup(CLI::App& gate, const std::shared_ptr<GateArguments>& arguments, int& exit_code) {
  auto* command =
      gate.add_subcommand("speedup", "Check that each model is as fast as required, as check_perf_csv.py does");
  auto& target = arguments->target;
  command
      ->add_option("-f,--file", arguments->files, "FILE.csv, a folder of such files, results.json or a results folder")
      ->required();
  command->add_option("-t,--threshold", target.threshold, "Required speed-up, or milliseconds of abs_latency")
      ->required()
      ->check(positive_number());
  command->add_option("-s,--threshold-scale", target.scale, "Factor for the threshold; below 1 relaxes it")
      ->check(positive_number())
      ->capture_default_str();
  command->add_option("--metric", target.metric, "Metric to judge")
      ->check(CLI::IsMember({"speedup", "abs_latency"}))
      ->capture_default_str();
  command->add_flag("--fail-on-improvement", target.fail_on_improvement,
                    "Also fail models that beat the threshold by more than the scale");
  command->add_option("--flaky", arguments->flaky, "Models whose failures are shown but not judged")->delimiter(',');
  command->add_flag("--strict-undecided", arguments->strict_undecided,
                    "Exit with 5 where no model is red, one is green, and a speed-up is too noisy to be judged");
  command->callback([=, &exit_code] {
    const auto judge = [&](const CsvTable& actual) {
      return gate_speed(actual, arguments->target, arguments->options());
    };
    exit_code = judge_tables(arguments->files, arguments->target.metric, arguments->flaky, {judge},
                             arguments->strict_undecided);
  });
}

}  // namespace

void add_gate_command(CLI::App& app, int& exit_code) {
  auto* gate = app.add_subcommand(
      "gate", "Judge results or tables in upstream's format. Exit codes: 0 green, 1 red, 2 unusable, 3 nothing judged");
  gate->require_subcommand(1);
  const auto arguments = std::make_shared<GateArguments>();
  auto* accuracy =
      add_comparison(*gate, "accuracy", "Check that each model has the expected status, as check_accuracy.py does",
                     "accuracy", judge::gate_accuracy, arguments, exit_code);
  accuracy->get_option("--expected")
      ->required(false)
      ->description("The same kinds of file; without it every model must pass");
  add_comparison(*gate, "graph_breaks",
                 "Check that as much of each model is captured as expected, as check_graph_breaks.py does",
                 "graph_breaks", judge::gate_graph_breaks, arguments, exit_code);
  auto* memory = add_comparison(
      *gate, "memory",
      "Check that each model saves as much memory as expected, as check_memory_compression_ratio.py does",
      "compression_ratio", judge::gate_memory, arguments, exit_code);
  memory->add_option("--part", arguments->part, "Sufficient fraction of the expected ratio")
      ->check(number_between(0, 10))
      ->capture_default_str();
  add_speedup(*gate, arguments, exit_code);
}

}  // namespace torchstone
