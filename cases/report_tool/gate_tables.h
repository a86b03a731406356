#pragma once
#include <functional>
#include <string>
#include <vector>

#include "reports/judge/gate.h"

namespace torchstone {

/// How tables are judged.
struct TableJudge {
  std::function<std::vector<judge::GateRow>(const CsvTable& actual)> judge;
  /// All tables that should have a counterpart; empty: none. It is called once for each table that is judged.
  std::function<const std::vector<CsvTable>&()> expected{};
  std::function<std::vector<judge::GateRow>(const CsvTable& expected)> judge_absent{};  ///< of one without
};

/// Judges each table that has `column`, prints it, and returns the exit code of all: 0 green, 1 red, 2 unusable, 3
/// nothing judged, and with `strict_undecided` 5 where all would be green and a speed-up is too noisy to be judged. A
/// flaky model that no table has is named on standard error.
int judge_tables(const std::vector<std::string>& paths, const std::string& column,
                 const std::vector<std::string>& flaky, const TableJudge& how, bool strict_undecided = false);

}  // namespace torchstone
