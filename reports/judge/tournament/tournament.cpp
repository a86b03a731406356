#include "reports/judge/tournament/tournament.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/judge/tournament/tournament_choice.h"
#include "reports/statistics/race.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

/// Within the processes that both have: those of the variant are the first ones of eager's.
double speedup_of(const std::vector<double>& eager, const std::vector<double>& variant) {
  const auto end = eager.begin() + static_cast<std::ptrdiff_t>(std::min(eager.size(), variant.size()));
  return statistics::geometric_mean({eager.begin(), end}) / statistics::geometric_mean(variant);
}

void add_times(Tournament& tournament, size_t timed, size_t eager) {
  auto& standings = tournament.standings;
  std::vector<std::vector<double>> logs;
  for (size_t i = 0; i < timed; ++i) logs.push_back(statistics::logarithms(standings[i].entrant.seconds));
  const double confidence = statistics::confidence_of_look(tournament.options.confidence, tournament.options.looks);
  const auto beside_eager = statistics::compare_with_control(logs, eager, confidence);
  const auto look = statistics::look_at_race(logs, confidence, std::log1p(tournament.options.margin));
  const auto& of_eager = standings[eager].entrant.seconds;
  for (size_t i = 0; i < timed; ++i) {
    Standing& s = standings[i];
    s.timed = true;
    s.speedup = speedup_of(of_eager, s.entrant.seconds);
    s.seconds = statistics::geometric_mean(of_eager) / s.speedup;
    s.speedup_low = std::exp(-beside_eager[i].high);
    s.speedup_high = std::exp(-beside_eager[i].low);
    s.of_best_low = std::exp(look.beside_best[i].low);
    s.of_best_high = std::exp(look.beside_best[i].high);
    s.ties = look.may_be_best[i];
  }
  tournament.processes = of_eager.size();
  if (tournament.processes == 1)
    tournament.doubts.push_back("One process has no spread, so no variant can be told from another one.");
}

}  // namespace

void judge_tournament(std::vector<Entrant> entrants, Tournament& tournament) {
  auto& standings = tournament.standings;
  for (Entrant& entrant : entrants) standings.push_back({.entrant = std::move(entrant)});
  const auto begin_of_out = std::stable_partition(standings.begin(), standings.end(), [](const Standing& s) {
    return s.entrant.out.empty() && !s.entrant.seconds.empty();
  });
  const bool only_eager = std::ranges::all_of(
      standings, [](const Standing& s) { return s.entrant.out.empty() == (s.entrant.name == "eager"); });
  std::for_each(begin_of_out, standings.end(), [](Standing& s) {
    s.red = !s.entrant.out.empty() && info_of(s.entrant.status).junit != JUnitKind::skipped;
    if (s.entrant.out.empty()) s.entrant.out = "it passed, and was not timed";
  });
  const auto timed = static_cast<size_t>(begin_of_out - standings.begin());
  const auto eager =
      std::find_if(standings.begin(), begin_of_out, [](const Standing& s) { return s.entrant.name == "eager"; });
  if (timed < 2 || eager == begin_of_out) {
    if (!tournament.failure.empty()) return;
    tournament.failure = only_eager              ? "nothing but eager passed"
                         : eager == begin_of_out ? "eager was not timed, so nothing can be compared with it"
                                                 : "nothing but eager could be timed";
    return;
  }
  add_times(tournament, timed, static_cast<size_t>(eager - standings.begin()));
  std::stable_sort(standings.begin(), begin_of_out,
                   [](const Standing& a, const Standing& b) { return a.seconds < b.seconds; });
  for (const Standing& s : standings)
    if (s.ties) tournament.best.push_back(s.entrant.name);
  add_break_even(standings);
  mark_front(standings, tournament.options.margin);
  tournament.loaded = advice(standings, /*compile_too=*/false);
  tournament.compiled = advice(standings, /*compile_too=*/true);
}

std::string verdict_line(const Tournament& tournament) {
  if (tournament.best.empty()) return "no ranking: " + tournament.failure;
  if (tournament.best.size() == 1) return "winner " + tournament.best.front();
  return fmt::format("{} tie: {}", tournament.best.size(), fmt::join(tournament.best, ", "));
}

std::string processes_words(const Tournament& tournament) {
  size_t fewest = tournament.processes;
  for (const Standing& s : tournament.standings)
    if (s.timed) fewest = std::min(fewest, s.entrant.seconds.size());
  if (fewest == tournament.processes) return fmt::format("{}", fewest);
  return fmt::format("{} to {}", fewest, tournament.processes);
}

}  // namespace torchstone::judge
