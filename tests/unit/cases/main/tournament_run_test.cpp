#include "cases/main/tournament_run.h"

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

}  // namespace
}  // namespace torchstone
