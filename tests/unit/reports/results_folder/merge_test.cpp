#include "reports/results_folder/merge.h"

#include <fstream>

#include <gtest/gtest.h>

#include "reports/base/files.h"
#include "reports/results_folder/case_files.h"
#include "reports/write/reports.h"
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
  write_case(shards.two, recorded("c", Status::vacuous, "4"));
  for (const auto& inputs : {std::vector{shards.one, shards.two}, std::vector{shards.two, shards.one}}) {
    const Merged merged = merge_results(inputs);
    ASSERT_EQ(merged.report.results.size(), 3u);
    for (const auto& result : merged.report.results) {
      EXPECT_EQ(result.outcome.status, result.name == "c" ? Status::vacuous : Status::pass) << result.name;
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

TEST(Merge, OfOneRunKeepsHowItEnded) {
  const Shards shards;
  write::write_reports({sample_run(), {simple_result("a", Status::pass)}}, shards.one);
  EXPECT_EQ(merge_results({shards.one}).report.run.exit_reason, sample_run().exit_reason);
  write_case(shards.two, simple_result("b", Status::pass));
  EXPECT_EQ(merge_results({shards.two}).report.run.exit_reason,
            "");  // killed: no results.json says how
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

}  // namespace
}  // namespace torchstone::results_folder
