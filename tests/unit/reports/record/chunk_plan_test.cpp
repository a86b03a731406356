#include "reports/record/chunk_plan.h"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<PlannedCase> cases_of_seconds(const std::vector<double>& seconds, bool timed = false) {
  std::vector<PlannedCase> cases;
  for (const double value : seconds)
    cases.push_back({fmt::format("{}{}", timed ? "t" : "j", cases.size()), timed, value});
  return cases;
}

std::vector<double> seconds_of(const ChunkPlan& plan) {
  std::vector<double> seconds;
  for (const auto& chunk : plan.chunks) seconds.push_back(chunk.seconds);
  return seconds;
}

TEST(ChunkPlan, FillsChunksUpToTheLength) {
  const ChunkPlan plan = plan_chunks(cases_of_seconds({1, 6, 2, 5, 3, 3}), 10);
  EXPECT_THAT(seconds_of(plan), ElementsAre(10, 10));
  EXPECT_THAT(plan.chunks[0].cases, ElementsAre("j1", "j4", "j0"));
  EXPECT_THAT(plan.chunks[1].cases, ElementsAre("j3", "j5", "j2"));
  EXPECT_EQ(filter_of(plan.chunks[0]), "j1:j4:j0");
}

TEST(ChunkPlan, ALongCaseIsAChunkOfItsOwn) {
  const ChunkPlan plan = plan_chunks(cases_of_seconds({4, 25, 4}), 10);
  EXPECT_THAT(seconds_of(plan), ElementsAre(25, 8));
}

TEST(ChunkPlan, TimedAndUntimedCasesShareNoChunk) {
  auto cases = cases_of_seconds({1, 2});
  for (auto& timed : cases_of_seconds({3, 4}, true)) cases.push_back(timed);
  const ChunkPlan plan = plan_chunks(cases, 100);
  ASSERT_EQ(plan.chunks.size(), 2u);
  EXPECT_EQ(kind_of(plan.chunks[0]), "judged");
  EXPECT_EQ(kind_of(plan.chunks[1]), "timed");
  EXPECT_THAT(seconds_of(plan), ElementsAre(3, 7));
}

TEST(ChunkPlan, EachCaseIsInOneChunk) {
  std::vector<double> seconds;
  for (int i = 0; i < 500; ++i) seconds.push_back(0.5 + i % 13);
  std::multiset<std::string> names;
  const ChunkPlan plan = plan_chunks(cases_of_seconds(seconds), 60);
  for (const auto& chunk : plan.chunks) {
    EXPECT_LE(chunk.seconds, 60);
    names.insert(chunk.cases.begin(), chunk.cases.end());
  }
  EXPECT_EQ(names.size(), 500u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 500u);
}

TEST(ChunkPlan, NamesCasesOfAssumedDuration) {
  auto cases = cases_of_seconds({2, 4, 60});
  cases.push_back({"new", false, {}});
  cases.push_back({"new_timed", true, {}});
  ChunkPlan plan = plan_chunks(cases, 1);
  EXPECT_THAT(plan.assumed, ElementsAre("new", "new_timed"));
  EXPECT_THAT(seconds_of(plan), ElementsAre(60, 4, 4, 2, 4)) << "the median of its kind, else of all";
  plan = plan_chunks(cases, 1, 7);
  EXPECT_THAT(seconds_of(plan), ElementsAre(60, 7, 4, 2, 7));
  EXPECT_THAT(plan_chunks(cases_of_seconds({1}), 1).assumed, IsEmpty());
  EXPECT_THROW(plan_chunks({{"new", false, {}}}, 1), std::invalid_argument);
  EXPECT_THAT(plan_chunks({}, 1).chunks, IsEmpty());
}

TEST(ChunkPlan, AFilterFitsIntoAVariable) {
  std::vector<PlannedCase> cases;
  for (int i = 0; i < 3000; ++i) cases.push_back({fmt::format("{:0100}", i), false, 0.001});
  const ChunkPlan plan = plan_chunks(cases, 1000);
  EXPECT_GT(plan.chunks.size(), 2u);
  for (const auto& chunk : plan.chunks) EXPECT_LT(filter_of(chunk).size(), 128u * 1024);
}

TEST(ChunkPlan, RefusesANameThatAFilterCannotSelect) {
  for (const char* name : {"a-b", "a:b", "a*", "a?"})
    EXPECT_THROW(plan_chunks({{name, false, 1.0}}, 1), std::invalid_argument) << name;
}

TEST(ChunkPlan, ReadsCasesOfResults) {
  Result judged = simple_result("judged", Status::pass), timed = simple_result("timed", Status::pass, "performance");
  Result planned = simple_result("planned", Status::interrupted),
         plugin = simple_result("plugin", Status::pass, "mine");
  judged.duration_s = 2;
  timed.duration_s = 3;
  planned.duration_s = 4;
  planned.finished = false;
  plugin.outcome.samples["eager_s"] = {0.1};
  const auto cases = cases_of({judged, timed, planned, plugin, judged});
  ASSERT_EQ(cases.size(), 4u);
  const auto find = [&](const std::string& name) { return *std::ranges::find(cases, name, &PlannedCase::name); };
  EXPECT_EQ(find("judged").seconds, 2);
  EXPECT_FALSE(find("judged").timed);
  EXPECT_TRUE(find("timed").timed);
  EXPECT_FALSE(find("planned").seconds) << "it did not end";
  EXPECT_TRUE(find("plugin").timed) << "it has timings";
}

TEST(ChunkPlan, ReadsAListOfCases) {
  Result known = simple_result("a", Status::pass);
  known.duration_s = 2;
  const auto cases = cases_of_list(R"([{"name": "a", "check": "accuracy"}, {"name": "b", "check": "performance"},
                                       {"name": "c", "check": "mine", "timed": true}])",
                                   "list.json", {known, simple_result("gone", Status::pass)});
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].seconds, 2);
  EXPECT_FALSE(cases[0].timed);
  EXPECT_TRUE(cases[1].timed);
  EXPECT_TRUE(cases[2].timed);
}

TEST(ChunkPlan, RefusesWhatIsNoList) {
  for (const char* text :
       {"", "{}", "[1]", "[{}]", R"([{"name": "a"}, {"name": "a"}])", R"([{"name": "a", "timed": 1}])"}) {
    try {
      cases_of_list(text, "list.json", {});
      ADD_FAILURE() << text;
    } catch (const ReportError& error) {
      EXPECT_THAT(error.what(), HasSubstr("list.json: not a list of cases: ")) << text;
    }
  }
}

}  // namespace
}  // namespace torchstone
