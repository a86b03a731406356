#include "reports/record/results_folder/case_records.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Cases, ComeBackInTheOrderTheyWereRecorded) {
  const TemporaryFolder folder;
  Result late = simple_result("a/late", Status::pass), early = simple_result("z/early", Status::fail_accuracy);
  late.recorded = "2026-01-31T12:00:02.000Z";
  early.recorded = "2026-01-31T12:00:01.000Z";
  write_case(folder.path(), late);
  write_case(folder.path(), early);
  const CaseFiles cases = read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 2u);
  EXPECT_EQ(cases.results[0].name, "z/early");
  EXPECT_EQ(cases.results[1].name, "a/late");
  EXPECT_TRUE(cases.errors.empty());
}

TEST(Cases, AreStampedWhenWritten) {
  const TemporaryFolder folder;
  Result result = simple_result("a", Status::pass);
  result.recorded = "";
  write_case(folder.path(), result);
  EXPECT_EQ(read_cases(folder.path()).results.at(0).recorded.size(), std::string("2026-01-31T12:00:00.000Z").size());
}

TEST(Cases, StartedAndNeverFinishedIsACrash) {
  const TemporaryFolder folder;
  Result result = simple_result("a", Status::pass);
  result.finished = false;
  write_case(folder.path(), result);
  const auto cases = read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 1u);
  EXPECT_EQ(cases.results[0].outcome.status, Status::crash);
  EXPECT_EQ(cases.results[0].outcome.reason, "started, never finished");
  EXPECT_TRUE(cases.results[0].finished);
  EXPECT_TRUE(cases.errors.empty());
}

TEST(Cases, ADamagedFileIsARowThatNamesIt) {
  const TemporaryFolder folder;
  const fs::path path = write_case(folder.path(), simple_result("suite/Check.A/b", Status::pass));
  write_case(folder.path(), simple_result("whole", Status::pass));
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto cases = read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 2u);
  ASSERT_EQ(cases.errors.size(), 1u);
  EXPECT_THAT(cases.errors[0], HasSubstr(path.string()));
  const Result& row = cases.results[0].name == "whole" ? cases.results[1] : cases.results[0];
  EXPECT_EQ(row.name, "suite/Check.A/b");
  EXPECT_EQ(row.outcome.status, Status::crash);
  EXPECT_THAT(row.outcome.reason, testing::StartsWith("damaged result file: " + path.string()));
}

TEST(Cases, OfNoFolderAreNone) { EXPECT_TRUE(read_cases("/no/such/folder").results.empty()); }

using testing::ElementsAre;

RunInfo run_at(const std::string& started) {
  RunInfo run = sample_run();
  run.started = started;
  run.id = started + "-1";
  return run;
}

Result record(const std::string& name, Status status, const std::string& when) {
  Result result = simple_result(name, status);
  result.recorded = when;
  return result;
}

std::vector<std::string> statuses_of(const std::vector<Result>& results) {
  std::vector<std::string> statuses;
  for (const auto& result : results)
    statuses.push_back(result.name + " " + std::string(to_string(result.outcome.status)));
  return statuses;
}

const std::vector<Result> three = {simple_result("a", Status::pass), simple_result("b", Status::pass),
                                   simple_result("c", Status::pass)};

TEST(Plan, ComesBackAsCasesThatDidNotRun) {
  const TemporaryFolder folder;
  std::vector<Result> planned = three;
  planned[1].reproduce = "torchstone --gtest_filter=b";
  write_plan(folder.path(), run_at("2026-01-31T12:00:00.000Z"), planned);
  const Plans read = read_plans(folder.path());
  ASSERT_EQ(read.plans.size(), 1u);
  EXPECT_THAT(statuses_of(read.plans[0].results), ElementsAre("a interrupted", "b interrupted", "c interrupted"));
  EXPECT_EQ(read.plans[0].results[1].reproduce, planned[1].reproduce);
  EXPECT_EQ(read.plans[0].results[1].outcome.reason, "not run: the run ended before it");
  EXPECT_EQ(read.plans[0].run.machine, sample_run().machine);
  EXPECT_TRUE(read_plans(folder.path() / "none").plans.empty());
}

TEST(Plan, OfAKilledRunNamesEveryCaseThatIsMissing) {
  const TemporaryFolder folder;
  write_plan(folder.path(), run_at("2026-01-31T12:00:00.000Z"), three);
  write_case(folder.path(), record("b", Status::pass, "2026-01-31T12:00:05.000Z"));
  Result started = record("a", Status::pass, "2026-01-31T12:00:06.000Z");
  started.finished = false;
  write_case(folder.path(), started);
  const Merged merged = merge_results({folder.path()});
  EXPECT_THAT(statuses_of(merged.report.results), ElementsAre("a crash", "b pass", "c interrupted"));
  EXPECT_EQ(merged.report.run.build, sample_run().build);  // known without results.json
  EXPECT_TRUE(merged.warnings.empty());
}

TEST(Plan, IsNewerThanTheReportsOfAnEarlierRun) {
  const TemporaryFolder folder;
  write::write_reports(
      {run_at("2026-01-30T11:00:00.000Z"),
       {record("a", Status::pass, "2026-01-30T12:00:00.000Z"), record("b", Status::pass, "2026-01-30T12:00:01.000Z")}},
      folder.path());
  write_plan(folder.path(), run_at("2026-01-31T12:00:00.000Z"), three);
  write_case(folder.path(), record("b", Status::pass, "2026-01-31T12:00:05.000Z"));
  EXPECT_THAT(statuses_of(merge_results({folder.path()}).report.results),
              ElementsAre("a interrupted", "b pass", "c interrupted"));
}

TEST(Plan, OfManyProcessesOfOneFolderIsTheirUnion) {
  const TemporaryFolder folder;
  for (const auto& [started, name] : {std::pair{"2026-01-31T12:00:02.000Z", "b"}, {"2026-01-31T12:00:01.000Z", "a"}})
    write_plan(folder.path(), run_at(started), {simple_result(name, Status::pass)});
  write_case(folder.path(), record("a", Status::pass, "2026-01-31T12:00:03.000Z"));
  write_case(folder.path(), record("b", Status::pass, "2026-01-31T12:00:04.000Z"));
  const Merged merged = merge_results({folder.path()});
  EXPECT_THAT(statuses_of(merged.report.results), ElementsAre("a pass", "b pass"));
  EXPECT_EQ(merged.report.run.started, "2026-01-31T12:00:01.000Z");
}

TEST(Plan, ARerunInAnotherFolderFillsTheGaps) {
  const TemporaryFolder killed, again;
  write_plan(killed.path(), run_at("2026-01-31T12:00:00.000Z"), three);
  write_plan(again.path(), run_at("2026-01-31T13:00:00.000Z"), {three[2]});
  write_case(again.path(), record("c", Status::pass, "2026-01-31T13:00:05.000Z"));
  for (const auto& inputs : {std::vector{killed.path(), again.path()}, std::vector{again.path(), killed.path()}})
    EXPECT_THAT(statuses_of(merge_results(inputs).report.results),
                testing::UnorderedElementsAre("a interrupted", "b interrupted", "c pass"));
}

TEST(Plan, DamagedIsAWarning) {
  const TemporaryFolder folder;
  const fs::path path = write_plan(folder.path(), run_at("2026-01-31T12:00:00.000Z"), three);
  write_case(folder.path(), record("a", Status::pass, "2026-01-31T12:00:05.000Z"));
  fs::resize_file(path, fs::file_size(path) / 2);
  const Merged merged = merge_results({folder.path()});
  EXPECT_THAT(merged.warnings, ElementsAre(HasSubstr(path.string())));
  EXPECT_THAT(statuses_of(merged.report.results), ElementsAre("a pass"));
}

TEST(Plan, GivesADamagedCaseFileItsIdentity) {
  const TemporaryFolder folder;
  write_plan(folder.path(), run_at("2020-01-31T12:00:00.000Z"), three);
  for (const char* name : {"a", "b"}) {
    const fs::path path = write_case(folder.path(), simple_result(name, Status::pass));
    fs::resize_file(path, std::string(name) == "a" ? 0 : fs::file_size(path) / 2);
  }
  const Merged merged = merge_results({folder.path()});
  EXPECT_THAT(statuses_of(merged.report.results), ElementsAre("a crash", "b crash", "c interrupted"));
  EXPECT_EQ(merged.report.results[0].check, "accuracy");
  EXPECT_THAT(merged.report.results[0].outcome.reason, HasSubstr("damaged result file"));
  EXPECT_EQ(merged.warnings.size(), 2u);
}

TEST(Plan, ADamagedReportBesideItIsAWarning) {
  const TemporaryFolder folder;
  write_plan(folder.path(), run_at("2026-01-31T12:00:00.000Z"), three);
  write_case(folder.path(), record("a", Status::pass, "2026-01-31T12:00:05.000Z"));
  std::ofstream(folder.path() / "results.json") << "{\"schema\": \"torchst";
  const Merged merged = merge_results({folder.path()});
  EXPECT_THAT(merged.warnings, ElementsAre(HasSubstr("results.json: not JSON")));
  EXPECT_THAT(statuses_of(merged.report.results), ElementsAre("a pass", "b interrupted", "c interrupted"));
  EXPECT_THROW(merge_results({folder.path() / "results.json"}), ReportError);
}

TEST(WithMissing, AddsOnlyWhatHasNoRow) {
  EXPECT_THAT(statuses_of(with_missing({simple_result("b", Status::pass)}, three)),
              ElementsAre("b pass", "a interrupted", "c interrupted"));
  EXPECT_EQ(with_missing(three, three).size(), 3u);
}

}  // namespace
}  // namespace torchstone::results_folder
