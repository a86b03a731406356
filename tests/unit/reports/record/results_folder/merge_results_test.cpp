#include "reports/record/results_folder/merge_results.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/base/files.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;

struct Shards {
  TemporaryFolder folder;
  fs::path one = folder.path() / "one", two = folder.path() / "two";
};

Result recorded(const std::string& name, Status status, const std::string& when) {
  Result result = simple_result(name, status);
  result.recorded = when;
  return result;
}

TEST(Merge, TakesTheNewestRecordOfAName) {
  const Shards shards;
  write::write_reports({sample_run(), {recorded("a", Status::crash, "1"), recorded("b", Status::pass, "9")}},
                       shards.one);
  write_case(shards.two, recorded("a", Status::pass, "2"));
  write_case(shards.two, recorded("b", Status::crash, "3"));
  write_case(shards.two, recorded("c", Status::uninformative, "4"));
  for (const auto& inputs : {std::vector{shards.one, shards.two}, std::vector{shards.two, shards.one}}) {
    const Merged merged = merge_results(inputs);
    ASSERT_EQ(merged.report.results.size(), 3u);
    for (const auto& result : merged.report.results) {
      EXPECT_EQ(result.outcome.status, result.name == "c" ? Status::uninformative : Status::pass) << result.name;
    }
  }
}

TEST(Merge, SaysWhereTheMachinesDiffer) {
  const Shards shards;
  RunInfo later = sample_run();
  later.started = "2026-02-01T00:00:00.000Z";
  later.machine["cpu"] = "Other CPU";
  write::write_reports({later, {simple_result("a", Status::pass)}}, shards.one);
  write::write_reports({sample_run(), {simple_result("b", Status::pass)}}, shards.two);
  const RunInfo run = merge_results({shards.one, shards.two / "results.json"}).report.run;
  EXPECT_EQ(run.machine.at("cpu"), "Other CPU | Some CPU @ 3.0 GHz");
  EXPECT_EQ(run.machine.at("cores"), "8");
  EXPECT_EQ(run.started, sample_run().started);
  EXPECT_DOUBLE_EQ(run.duration_s, 2 * sample_run().duration_s);
  EXPECT_EQ(run.exit_reason, "merged from 2 inputs");
}

RunInfo run_on(const std::string& cpu, const std::string& gpu) {
  RunInfo run = sample_run();
  run.machine["cpu"] = cpu;
  run.build["gpu"] = gpu;
  return run;
}

std::string machine_in(const Report& report, const std::string& name) {
  for (const auto& result : report.results)
    if (result.name == name) return result.machine;
  return "absent";
}

TEST(Merge, ResultsOfSeveralMachinesNameTheirs) {
  const Shards shards;
  write::write_reports({run_on("X", "NVIDIA H200"), {recorded("a", Status::pass, "1")}}, shards.one);
  write::write_reports({run_on("X", "NVIDIA A100"), {recorded("b", Status::pass, "1")}}, shards.two);
  Report merged = merge_results({shards.one, shards.two}).report;
  EXPECT_EQ(machine_in(merged, "a"), "X, NVIDIA H200");
  EXPECT_EQ(machine_in(merged, "b"), "X, NVIDIA A100");
  // Results keep their machine when merged results are merged again.
  const fs::path both = shards.folder.path() / "both";
  write::write_reports(merged, both);
  merged = merge_results({both, shards.two}).report;
  EXPECT_EQ(machine_in(merged, "a"), "X, NVIDIA H200");
  EXPECT_EQ(machine_in(merged, "b"), "X, NVIDIA A100");
  // If all results are from one machine, the facts of the run suffice.
  write_case(shards.folder.path() / "no_facts", simple_result("c", Status::pass));
  merged = merge_results({shards.one, shards.folder.path() / "no_facts"}).report;
  EXPECT_EQ(machine_in(merged, "a"), "");
  EXPECT_EQ(machine_in(merged, "c"), "");
}

TEST(Merge, RunsOfOneFolderOnTwoMachinesAreToldApart) {
  const Shards shards;
  for (const std::string name : {"a", "b"}) {
    RunInfo run = run_on("CPU " + name, "");
    run.id = "run " + name;
    Result result = recorded(name, Status::pass, name);
    result.origin = {"folder", name == "a" ? 1 : 2, run.id, 0};
    write_plan(shards.one, run, {result});
    result.origin.sequence = 1;
    write_case(shards.one, result);
  }
  const Report merged = merge_results({shards.one}).report;
  EXPECT_EQ(machine_in(merged, "a"), "CPU a");
  EXPECT_EQ(machine_in(merged, "b"), "CPU b");
}

TEST(Merge, AFactThatIsAPartOfAnotherIsKept) {
  const Shards shards;
  write::write_reports({run_on("X", "NVIDIA A100 80GB"), {}}, shards.one);
  write::write_reports({run_on("X", "NVIDIA A100"), {simple_result("a", Status::pass)}}, shards.two);
  EXPECT_EQ(merge_results({shards.one, shards.two}).report.run.build.at("gpu"), "NVIDIA A100 80GB | NVIDIA A100");
  EXPECT_EQ(merge_results({shards.one, shards.two, shards.two}).report.run.build.at("gpu"),
            "NVIDIA A100 80GB | NVIDIA A100");
}

TEST(Merge, OfOneRunKeepsHowItEnded) {
  const Shards shards;
  write::write_reports({sample_run(), {simple_result("a", Status::pass)}}, shards.one);
  EXPECT_EQ(merge_results({shards.one}).report.run.exit_reason, sample_run().exit_reason);
  write_case(shards.two, simple_result("b", Status::pass));
  EXPECT_EQ(merge_results({shards.two}).report.run.exit_reason,
            "");  // a killed run has no results.json with an exit reason
}

TEST(Merge, RefusesWhatIsMissingOrUnreadable) {
  const Shards shards;
  EXPECT_THROW(merge_results({shards.one}), ReportError);
  fs::create_directories(shards.one);
  EXPECT_TRUE(merge_results({shards.one}).report.results.empty());
  std::ofstream(shards.one / "results.json") << "{}";
  EXPECT_THROW(merge_results({shards.one}), ReportError);
}

TEST(Merge, ADamagedCaseIsAWarningAndACrash) {
  const Shards shards;
  std::ofstream(write_case(shards.one, simple_result("a", Status::pass))) << "half a fi";
  const Merged merged = merge_results({shards.one});
  EXPECT_EQ(merged.warnings.size(), 1u);
  EXPECT_EQ(merged.report.results.at(0).outcome.status, Status::crash);
}

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
  EXPECT_TRUE(later(of({"f", 1, "x", 2}, early), of({"f", 1, "x", 1}, late))) << "a later record of the same run";
  EXPECT_TRUE(later(of({"f", 2, "y", 0}, early), of({"f", 1, "x", 9}, late))) << "a record of a later run";
  EXPECT_TRUE(later(of({"f", 1, "y", 1}, late), of({"f", 1, "x", 9}, early))) << "without locks, the time decides";
  EXPECT_TRUE(later(of({"g", 1, "y", 1}, late), of({"f", 9, "x", 9}, early)))
      << "in different folders, the time decides";
  EXPECT_TRUE(later(of({}, late), of({"f", 9, "x", 9}, early))) << "without an origin, the time decides";
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
  EXPECT_EQ(read_cases(folder.path()).results.at(0).name, "a") << "cases are in the order of their records";
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
