#include <gtest/gtest.h>

#include "reports/judge/tournament_ranking.h"

namespace torchstone::judge {
namespace {

Entrant entrant(const std::string& name, Status status) {
  Entrant e;
  e.name = name;
  e.status = status;
  e.ladder.outcome.status = Status::pass;
  return e;
}

Tournament without_ranking(const std::vector<Entrant>& entrants) {
  Tournament tournament;
  for (const Entrant& entrant : entrants) tournament.standings.push_back({.entrant = entrant});
  return tournament;
}

TEST(ExitCodeOfModel, IsThatOfWhatKeptItFromARanking) {
  const auto eager = entrant("eager", Status::pass);
  const auto code = [](const std::vector<Entrant>& entrants, Status failed = Status::pass) {
    return exit_code_of_model(without_ranking(entrants), failed);
  };
  const auto code_of_ranked = [](const std::vector<Entrant>& entrants) {
    Tournament tournament = without_ranking(entrants);
    tournament.best = {"a"};
    return exit_code_of_model(tournament, Status::pass);
  };
  EXPECT_EQ(code({eager, entrant("a", Status::unsupported)}), 3);
  EXPECT_EQ(code({eager, entrant("a", Status::fail_accuracy)}), 1) << "of the timing, after its ladder passed";
  EXPECT_EQ(code({entrant("eager", Status::crash), entrant("a", Status::pass)}), 4);
  EXPECT_EQ(code({eager, entrant("a", Status::pass)}, Status::OOM), 4);
  EXPECT_EQ(code_of_ranked({eager, entrant("a", Status::fail_accuracy)}), 0);
  auto unasked = entrant("a", Status::fail_to_compile);
  unasked.ladder.outcome.infrastructure_fault = "no compiler";
  EXPECT_EQ(code_of_ranked({eager, unasked}), 4);
  EXPECT_EQ(code({eager, unasked}), 4);
  EXPECT_EQ(code({eager, unasked, entrant("b", Status::fail_accuracy)}), 1) << "a wrong answer comes first";
}

TEST(ExitCodeOfModels, HasAWrongAnswerBeforeWhatWasNotJudged) {
  const auto code = [](const std::vector<int>& codes) {
    std::vector<Tournament> tournaments;
    for (const int one : codes) {
      tournaments.emplace_back();
      tournaments.back().exit_code = one;
    }
    return exit_code_of_models(tournaments);
  };
  EXPECT_EQ(code({0, 0}), 0);
  EXPECT_EQ(code({0, 3}), 3);
  EXPECT_EQ(code({3, 1, 4}), 1);
  EXPECT_EQ(code({3, 4}), 4);
  EXPECT_EQ(code({1, 130}), 130);
}

}  // namespace
}  // namespace torchstone::judge
