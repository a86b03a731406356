#include <gmock/gmock.h>

#include "cases/main/session.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

TEST(DiagnosisBudget, IsForTheFirstCasesAndSaysWhichFlagLeftTheOthersOut) {
  DiagnosisBudget budget(2);
  EXPECT_EQ(budget.take("a"), "");
  EXPECT_EQ(budget.take("b"), "");
  EXPECT_EQ(budget.take("c"), "not diagnosed: as many cases as --torchstone_diagnose_max says (2) have been");
  EXPECT_TRUE(budget.is_first_refusal());
  EXPECT_FALSE(budget.is_first_refusal());
}

TEST(DiagnosisBudget, KeepsHalfForOtherModels) {
  DiagnosisBudget budget(5);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(budget.take("a"), "") << i;
  EXPECT_THAT(budget.take("a"), HasSubstr("2 of the 5 of --torchstone_diagnose_max may be such"));
  EXPECT_EQ(budget.take("b"), "");
  EXPECT_EQ(budget.take("c"), "");
  EXPECT_THAT(budget.take("d"), HasSubstr("says (5) have been"));
  DiagnosisBudget one(1);
  EXPECT_EQ(one.take("a"), "");
  EXPECT_THAT(one.take("a"), HasSubstr("not diagnosed"));
}

TEST(DiagnosisBudget, OfNoughtHasNoEnd) {
  DiagnosisBudget budget(0);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(budget.take("a"), "");
}

TEST(DiagnosisBudget, IsTenUnlessAllAreAskedFor) {
  const auto taken = [](Diagnose diagnose, std::optional<int64_t> most) {
    RunOptions options;
    options.diagnose = diagnose;
    options.diagnose_max = most;
    DiagnosisBudget budget = diagnosis_budget_of(options);
    int count = 0;
    while (count < 50 && budget.take(std::to_string(count)).empty()) ++count;
    return count;
  };
  EXPECT_EQ(taken(Diagnose::automatic, std::nullopt), 10);
  EXPECT_EQ(taken(Diagnose::always, std::nullopt), 50);
  EXPECT_EQ(taken(Diagnose::always, 3), 3);
  EXPECT_EQ(taken(Diagnose::automatic, 0), 50);
}

}  // namespace
}  // namespace torchstone
