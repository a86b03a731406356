#include "cases/report_tool/gate_tables.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/text.h"
#include "reports/judge/gate_input.h"

namespace torchstone {
namespace {

/// One list of flaky models may serve several jobs, each with a part of them: a name that is not there is no error.
void warn_of_unknown(const std::vector<std::string>& flaky, const std::vector<judge::GateRow>& rows) {
  std::set<std::string> names;
  for (const auto& row : rows) names.insert(row.name);
  if (names.empty()) return;
  for (const auto& name : flaky)
    if (!names.contains(name))
      print_error(fmt::format("warning: --flaky {}: no model here has this name ({})", name,
                              expected_one_of(name, {names.begin(), names.end()})));
}

}  // namespace

int judge_tables(const std::vector<std::string>& paths, const std::string& column,
                 const std::vector<std::string>& flaky, const TableJudge& how, bool strict_undecided) {
  std::vector<judge::GateRow> all;
  std::vector<CsvTable> seen;
  const auto add = [&](const CsvTable& table, const std::vector<judge::GateRow>& rows) {
    print_text(fmt::format("{}\n{}", terminal_line(table.file), gate_text(rows)));
    all.insert(all.end(), rows.begin(), rows.end());
  };
  try {
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
  } catch (const ReportError& error) {
    print_error(error.what());
    return ExitCode::usage_error;
  } catch (const std::filesystem::filesystem_error& error) {
    print_error(error.what());
    return ExitCode::usage_error;
  }
  warn_of_unknown(flaky, all);
  const int code = gate_exit_code(all);
  const bool any_noisy = std::ranges::any_of(all, [](const auto& row) { return row.verdict == "NOISY"; });
  if (code == ExitCode::nothing_judged)
    print_error(any_noisy ? "nothing was judged: the speed-ups are noisy, and none is decided"
                          : "nothing was judged: no model has a status that could be compared");
  if (code != ExitCode::success || !strict_undecided || !any_noisy) return code;
  print_error("undecided: a speed-up is noisy");
  return ExitCode::undecided;
}

}  // namespace torchstone
