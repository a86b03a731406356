#include "reports/judge/tournament/tournament_exit.h"

#include <algorithm>

#include "reports/base/process.h"
#include "reports/record/summary.h"

namespace torchstone::judge {

int exit_code_of_model(const Tournament& tournament, Status failed) {
  std::vector<Result> rows;
  bool infrastructure = false;
  for (const Standing& s : tournament.standings) {
    rows.push_back(s.entrant.ladder);
    rows.back().outcome.status = s.entrant.status;
    infrastructure = infrastructure || s.entrant.ladder.outcome.notes.contains("infrastructure");
  }
  if (!tournament.best.empty()) return infrastructure ? ExitCode::infrastructure : ExitCode::success;
  if (failed != Status::pass) return info_of(failed).exit_code;
  const int code = exit_code_of(rows, /*strict_undecided=*/false);
  return code == ExitCode::success ? static_cast<int>(ExitCode::nothing_judged) : code;
}

int exit_code_of_models(const std::vector<Tournament>& tournaments) {
  for (const int code :
       {ExitCode::interrupted, ExitCode::gate_failed, ExitCode::infrastructure, ExitCode::nothing_judged})
    if (std::ranges::find(tournaments, code, &Tournament::exit_code) != tournaments.end()) return code;
  return ExitCode::success;
}

}  // namespace torchstone::judge
