#include "reports/results_folder/order.h"

#include <gmock/gmock.h>

#include "reports/results_folder/case_files.h"
#include "reports/results_folder/merge.h"
#include "reports/results_folder/plan.h"
#include "reports/write/reports.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

using testing::ElementsAre;

const std::string early = "2026-01-31T10:00:00.000Z", noon = "2026-01-31T12:00:00.000Z",
                  late = "2026-01-31T14:00:00.000Z";

Result recorded_as(const std::string& name, Status status, const std::string& when, const Origin& origin = {}) {
  Result result = simple_result(name, status);
  result.recorded = when;
  result.origin = origin;
  return result;
}

RunInfo run_begun(const std::string& started, const std::string& id) {
  RunInfo run = sample_run();
  run.started = started;
  run.id = id;
  return run;
}

std::vector<std::string> merged_statuses(const Merged& merged) {
  std::vector<std::string> statuses;
  for (const auto& result : merged.report.results)
    statuses.push_back(result.name + " " + std::string(to_string(result.outcome.status)));
  return statuses;
}

TEST(Replaces, CountsRunsAndRecordsOfOneFolderAndAsksTheTimeElsewhere) {
  const auto of = [](const Origin& origin, const std::string& when) {
    return recorded_as("a", Status::pass, when, origin);
  };
  const auto later = [&](const Result& record, const Result& other) {
    return replaces(record, other) && !replaces(other, record);
  };
  EXPECT_TRUE(later(of({"f", 1, "x", 2}, early), of({"f", 1, "x", 1}, late))) << "within a run";
  EXPECT_TRUE(later(of({"f", 2, "y", 0}, early), of({"f", 1, "x", 9}, late))) << "the plan of a later run";
  EXPECT_TRUE(later(of({"f", 1, "y", 1}, late), of({"f", 1, "x", 9}, early))) << "two runs without locks";
  EXPECT_TRUE(later(of({"g", 1, "y", 1}, late), of({"f", 9, "x", 9}, early))) << "two folders";
  EXPECT_TRUE(later(of({}, late), of({"f", 9, "x", 9}, early))) << "of a version without origins";
  EXPECT_TRUE(later(of({}, late), of({}, early)));
}

TEST(AClockThatIsSetBack, DoesNotMakeAPassedCaseOneThatDidNotRun) {
  const TemporaryFolder folder;
  const Origin plan{"f", 1, "x", 0};
  write_plan(folder.path(), run_begun(noon, "x"),
             {recorded_as("a", Status::pass, "", plan), recorded_as("b", Status::pass, "", plan),
              recorded_as("c", Status::pass, "", plan)});
  write_case(folder.path(), recorded_as("b", Status::pass, early, {"f", 1, "x", 4}));
  write_case(folder.path(), recorded_as("a", Status::fail_accuracy, late, {"f", 1, "x", 2}));
  EXPECT_THAT(merged_statuses(merge_results({folder.path()})),
              ElementsAre("a fail_accuracy", "b pass", "c interrupted"));
  EXPECT_EQ(read_cases(folder.path()).results.at(0).name, "a") << "in the order they were made";
}

TEST(AClockThatIsSetBack, DoesNotBringBackTheResultsOfTheRunBefore) {
  const TemporaryFolder folder;
  write::write_reports(
      {run_begun(noon, "x"),
       {recorded_as("a", Status::pass, late, {"f", 1, "x", 2}), recorded_as("b", Status::pass, late, {"f", 1, "x", 4}),
        recorded_as("c", Status::pass, late, {"f", 1, "x", 6})}},
      folder.path());
  const Origin plan{"f", 2, "y", 0};
  write_plan(folder.path(), run_begun(early, "y"),
             {recorded_as("a", Status::pass, "", plan), recorded_as("b", Status::pass, "", plan),
              recorded_as("c", Status::pass, "", plan)});
  write_case(folder.path(), recorded_as("a", Status::fail_accuracy, early, {"f", 2, "y", 2}));
  const auto damaged = write_case(folder.path(), recorded_as("b", Status::pass, early, {"f", 2, "y", 4}));
  std::filesystem::resize_file(damaged, 10);
  EXPECT_THAT(merged_statuses(merge_results({folder.path()})),
              ElementsAre("a fail_accuracy", "b crash", "c interrupted"));
}

TEST(AClockThatIsSetBack, DoesNotMatterWhenTheFolderIsMergedAgainWithOthers) {
  const TemporaryFolder one, two, all;
  write_case(one.path(), recorded_as("a", Status::pass, noon, {"f", 2, "y", 2}));
  write::write_reports({run_begun(late, "x"), {recorded_as("a", Status::crash, late, {"f", 1, "x", 2})}}, one.path());
  write_case(two.path(), recorded_as("b", Status::pass, early, {"g", 1, "z", 2}));
  write::write_reports(merge_results({two.path(), one.path()}).report, all.path());
  for (const auto& inputs : {std::vector{all.path(), one.path()}, std::vector{one.path(), all.path()}})
    EXPECT_THAT(merged_statuses(merge_results(inputs)), testing::UnorderedElementsAre("a pass", "b pass"));
}

}  // namespace
}  // namespace torchstone::results_folder
