#include "reports/judge/tournament/tournament_quantised.h"

#include <gmock/gmock.h>

namespace torchstone::judge {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* budget = "cosine similarity of at least 0.99: quantised weights are not eager's";

Entrant timed_variant(const std::string& name, double seconds, const char* judged_by = nullptr) {
  Entrant e;
  e.name = name;
  e.ladder.outcome.status = Status::pass;
  if (judged_by) {
    e.ladder.outcome.notes["judged_by"] = judged_by;
    e.ladder.outcome.metrics["quantized_operators"] = 1;
  }
  for (int p = 0; p < 6; ++p) e.seconds.push_back(seconds * (1 + 0.0001 * p));
  return e;
}

std::vector<std::string> doubts_beside(std::vector<Entrant> entrants) {
  Tournament tournament;
  judge_tournament(std::move(entrants), tournament);
  return doubts_of_quantised(tournament.standings);
}

TEST(DoubtsOfQuantised, AmongTheFastestAreNamedWithTheirBudgetAndBesideTheFastestOther) {
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3), timed_variant("inductor", 2),
                             timed_variant("inductor:quantization=pt2e", 1, budget)}),
              ElementsAre(std::string("inductor:quantization=pt2e is judged by ") + budget + ".",
                          "The fastest that is not quantised is inductor."));
}

TEST(DoubtsOfQuantised, ThatAreSlowerAreNamedWithTheirBudgetAlone) {
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3), timed_variant("inductor", 1),
                             timed_variant("inductor:quantization=pt2e", 2, budget)}),
              ElementsAre(std::string("inductor:quantization=pt2e is judged by ") + budget + "."));
}

TEST(DoubtsOfQuantised, ThatWereNotTimedAndAllOthersHaveNoDoubt) {
  Entrant out = timed_variant("inductor:quantization=pt2e", 1, budget);
  out.seconds.clear();
  out.out = "wrong";
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3), timed_variant("inductor", 1), out}), IsEmpty());
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3)}), IsEmpty());
}

}  // namespace
}  // namespace torchstone::judge
