#include "reports/judge/tournament/sweep.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/text.h"

namespace torchstone::judge {
namespace {

std::string fact_of(const Tournament& tournament, const char* key) {
  const auto found = tournament.facts.find(key);
  return found == tournament.facts.end() ? "-" : found->second;
}

SweepRow row_of(const Tournament& tournament) {
  SweepRow row{.batch_size = fact_of(tournament, "batch_size"), .threads = fact_of(tournament, "threads")};
  if (tournament.best.empty()) {
    row.fastest = verdict_line(tournament);
    return row;
  }
  const Standing& fastest = tournament.standings.front();
  row.fastest = fmt::format("{}", fmt::join(tournament.best, ", "));
  row.seconds = fastest.seconds;
  row.samples_per_s = parse_number(row.batch_size).value_or(0) / fastest.seconds;
  row.speedup = fastest.speedup;
  row.speedup_low = fastest.speedup_low;
  row.speedup_high = fastest.speedup_high;
  return row;
}

}  // namespace

std::vector<Sweep> sweeps_of(const std::vector<Tournament>& tournaments) {
  std::vector<Sweep> sweeps;
  for (const Tournament& tournament : tournaments) {
    if (tournament.sweep.empty()) continue;
    auto found = std::ranges::find(sweeps, tournament.sweep, &Sweep::title);
    if (found == sweeps.end()) found = sweeps.insert(sweeps.end(), Sweep{tournament.sweep, {}});
    found->rows.push_back(row_of(tournament));
  }
  return sweeps;
}

}  // namespace torchstone::judge
