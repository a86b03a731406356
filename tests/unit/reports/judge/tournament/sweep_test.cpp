#include "reports/judge/tournament/sweep.h"

#include <gmock/gmock.h>

#include "reports/console/sweep_text.h"

namespace torchstone::judge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

Tournament held(const std::string& sweep, int batch_size, double compiled_s) {
  Tournament tournament;
  tournament.title = sweep + "_batch_size_" + std::to_string(batch_size);
  tournament.sweep = sweep;
  tournament.facts = {{"batch_size", std::to_string(batch_size)}};
  Entrant eager, compiled;
  eager.name = "eager";
  compiled.name = "compiled";
  eager.ladder.outcome.status = compiled.ladder.outcome.status = Status::pass;
  for (const double noise : {1.0, 1.001, 0.999, 1.0005}) {
    eager.seconds.push_back(2e-3 * noise);
    compiled.seconds.push_back(compiled_s * noise);
  }
  if (compiled_s == 0) compiled.out = "it crashed";
  if (compiled_s == 0) compiled.ladder.outcome.status = Status::crash;
  judge_tournament({eager, compiled}, tournament);
  return tournament;
}

TEST(Sweep, HasARowForEachCombinationWithTheFastest) {
  auto other = held("b", 1, 1e-3);
  other.facts["threads"] = "2";
  auto alone = held("", 1, 1e-3);
  const auto sweeps = sweeps_of({held("a", 1, 1e-3), other, held("a", 8, 4e-3), alone, held("a", 16, 0)});
  ASSERT_THAT(sweeps, SizeIs(2));
  EXPECT_EQ(sweeps[0].title, "a");
  ASSERT_THAT(sweeps[0].rows, SizeIs(3));
  const auto& [one, eight, none] = std::tie(sweeps[0].rows[0], sweeps[0].rows[1], sweeps[0].rows[2]);
  EXPECT_EQ(one.fastest, "compiled");
  EXPECT_EQ(one.threads, "-");
  EXPECT_NEAR(one.speedup, 2, 0.01);
  EXPECT_NEAR(one.samples_per_s, 1000, 5);
  EXPECT_EQ(eight.fastest, "eager");
  EXPECT_EQ(eight.speedup, 1);
  EXPECT_NEAR(eight.samples_per_s, 4000, 20);
  EXPECT_THAT(none.fastest, HasSubstr("no ranking"));
  EXPECT_EQ(none.seconds, 0);
  EXPECT_EQ(sweeps[1].rows.at(0).threads, "2");
}

TEST(SweepText, IsATableWithADashForWhatHasNoRanking) {
  const auto sweeps = sweeps_of({held("a", 1, 1e-3), held("a", 16, 0)});
  EXPECT_THAT(console::sweep_text(sweeps.at(0)),
              AllOf(HasSubstr("The fastest of a\n"), HasSubstr("compiled\n"), HasSubstr("no ranking: ")));
}

}  // namespace
}  // namespace torchstone::judge
