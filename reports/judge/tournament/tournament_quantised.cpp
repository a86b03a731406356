#include "reports/judge/tournament/tournament_quantised.h"

#include <algorithm>

#include <fmt/format.h>

namespace torchstone::judge {
namespace {

bool has_own_budget(const Standing& s) { return s.timed && metric_of(s.entrant.ladder, "quantized_operators"); }

}  // namespace

std::vector<std::string> doubts_of_quantised(const std::vector<Standing>& standings) {
  std::vector<std::string> doubts;
  for (const Standing& s : standings)
    if (has_own_budget(s))
      doubts.push_back(
          fmt::format("{} is judged by {}.", s.entrant.name, s.entrant.ladder.outcome.notes.at("judged_by")));
  const bool among_the_fastest =
      std::ranges::any_of(standings, [](const Standing& s) { return s.ties && has_own_budget(s); });
  const auto other = std::ranges::find_if(standings, [](const Standing& s) { return s.timed && !has_own_budget(s); });
  if (among_the_fastest && other != standings.end())
    doubts.push_back(fmt::format("The fastest that is not quantised is {}.", other->entrant.name));
  return doubts;
}

}  // namespace torchstone::judge
