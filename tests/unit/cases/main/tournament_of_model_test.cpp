#include "cases/main/tournament_of_model.h"

#include <gmock/gmock.h>

namespace torchstone {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Case variant(const std::string& model, const std::string& backend, Mode mode = Mode::inference) {
  Case c;
  c.suite = "s";
  c.model = model;
  c.mode = mode;
  c.check = "tournament";
  c.backend = {backend, {}};
  return c;
}

TEST(GroupsOfVariants, AreOfOneModelAndModeAndBeginWithEager) {
  const std::vector<Case> cases{variant("a", "inductor"),
                                variant("a", "eager"),
                                variant("b", "eager"),
                                variant("b", "torchscript"),
                                variant("a", "eager", Mode::training),
                                variant("a", "inductor", Mode::training)};
  EXPECT_THAT(groups_of_variants(cases, {0, 1, 2, 3, 4, 5}),
              ElementsAre(ElementsAre(1, 0), ElementsAre(2, 3), ElementsAre(4, 5)));
}

TEST(GroupsOfVariants, HaveEagerEvenWhereAFilterLeavesItOut) {
  const std::vector<Case> cases{variant("a", "inductor"), variant("a", "eager"), variant("b", "eager")};
  EXPECT_THAT(groups_of_variants(cases, {0}), ElementsAre(ElementsAre(1, 0)));
  EXPECT_THAT(groups_of_variants(cases, {}), IsEmpty());
}

judge::Entrant entrant(const std::string& name, Status status) {
  judge::Entrant e;
  e.name = name;
  e.status = status;
  e.ladder.outcome.status = Status::pass;
  return e;
}

TEST(ExitCodeOfModel, IsThatOfWhatKeptItFromARanking) {
  const auto eager = entrant("eager", Status::pass);
  const auto code = [](const std::vector<judge::Entrant>& entrants, Status failed = Status::pass) {
    return exit_code_of_model(entrants, /*ranked=*/false, failed);
  };
  EXPECT_EQ(code({eager, entrant("a", Status::unsupported)}), 3);
  EXPECT_EQ(code({eager, entrant("a", Status::fail_accuracy)}), 1) << "of the timing, after its ladder passed";
  EXPECT_EQ(code({entrant("eager", Status::crash), entrant("a", Status::pass)}), 4);
  EXPECT_EQ(code({eager, entrant("a", Status::pass)}, Status::OOM), 4);
  EXPECT_EQ(exit_code_of_model({eager, entrant("a", Status::fail_accuracy)}, /*ranked=*/true, Status::pass), 0);
  auto unasked = entrant("a", Status::fail_to_compile);
  unasked.ladder.outcome.notes["infrastructure"] = "no compiler";
  EXPECT_EQ(exit_code_of_model({eager, unasked}, /*ranked=*/true, Status::pass), 4);
  EXPECT_EQ(code({eager, unasked}), 4);
  EXPECT_EQ(code({eager, unasked, entrant("b", Status::fail_accuracy)}), 1) << "a wrong answer comes first";
}

TEST(ExitCodeOfModels, HasAWrongAnswerBeforeWhatWasNotJudged) {
  const auto code = [](const std::vector<int>& codes) {
    std::vector<judge::Tournament> tournaments;
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
}  // namespace torchstone
