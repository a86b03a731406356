#include "cases/selection/sweep.h"

#include <gmock/gmock.h>

#include "tests/unit/cases/selection/expanded.h"

namespace torchstone::selection {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

constexpr auto one_row =
    "suite: small\npolicy: p.yaml\nmatrix:\n  - {checks: [accuracy], backends: [torchscript]}\nmodels: [first]\n";

Expansion swept(std::vector<std::string> arguments, test::Folder& folder) {
  folder.write("p.yaml", policy);
  folder.write("s.yaml", one_row);
  arguments.insert(arguments.begin(), "--torchstone_tournament");
  return expand_sweep(suite::read_suites(folder.path() + "/s.yaml"), test::fake_known(),
                      test::flags_of(std::move(arguments)));
}

TEST(Sweep, HasACaseForEachCombinationWithANameOfItsOwn) {
  test::Folder folder;
  const auto cases = swept({"--torchstone_batch_size=1,8", "--torchstone_threads=2,4"}, folder).cases;
  EXPECT_THAT(test::names_of(cases), ElementsAre(EndsWith("_cpu_batch_size_1_threads_2"), EndsWith("_1_threads_4"),
                                                 EndsWith("_8_threads_2"), EndsWith("_cpu_batch_size_8_threads_4")));
  ASSERT_THAT(cases, SizeIs(4));
  EXPECT_EQ(std::pair(cases[1].batch_size, cases[1].threads), std::pair(int64_t{1}, 4));
  EXPECT_EQ(std::pair(cases[2].batch_size, cases[2].threads), std::pair(int64_t{8}, 2));
  EXPECT_THAT(cases[2].origin.at("batch_size"), HasSubstr("--torchstone_batch_size=1,8"));
}

TEST(Sweep, OfOneValueIsNone) {
  test::Folder folder;
  const auto cases = swept({"--torchstone_batch_size=8"}, folder).cases;
  ASSERT_THAT(cases, SizeIs(1));
  EXPECT_THAT(name_of(cases[0]), EndsWith("_cpu"));
  EXPECT_EQ(cases[0].batch_size, 8);
}

TEST(Sweep, TellsWhatIsThereAlready) {
  test::Folder folder;
  const auto expansion = swept({"--torchstone_batch_size=8,08"}, folder);
  EXPECT_THAT(expansion.cases, SizeIs(1));
  ASSERT_THAT(expansion.skipped, SizeIs(1));
  EXPECT_THAT(expansion.skipped[0].reason, HasSubstr("batch size 8 already"));
}

TEST(SweepFlags, AreOfTheTournamentAloneAndCheckedOneByOne) {
  const auto words_of = [](std::vector<std::string> arguments) {
    return test::error_of([&] { test::flags_of(std::move(arguments)); });
  };
  EXPECT_THAT(
      words_of({"--torchstone_threads=1,2"}),
      AllOf(HasSubstr("--torchstone_threads=1,2"), HasSubstr("several values are for --torchstone_tournament")));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_threads=1,x"}), HasSubstr("x"));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_batch_size=0,2"}), HasSubstr("1 to 1000000"));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_threads=2,2"}), HasSubstr("2 stands there twice"));
  EXPECT_THAT(words_of({"--torchstone_tournament", "--torchstone_seed=1,2"}), HasSubstr("1,2"));
  EXPECT_TRUE(test::flags_of({"--torchstone_tournament", "--torchstone_threads=2"}).sweeps.empty());
}

}  // namespace
}  // namespace torchstone::selection
