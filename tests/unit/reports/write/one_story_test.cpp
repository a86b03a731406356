// Every report must say that a baseline makes a run red, or that a run's exit code is not explained by a case.
#include <gmock/gmock.h>
#include <torchstone/report_writer.h>

#include "reports/base/files.h"
#include "reports/console/summary_text.h"
#include "reports/record/report_json.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/record/summary.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string words = "worse than the baseline main: speed-up 1.30x → 1.04x (-20.00 %)";
const std::string again = "torchstone-report compare main results";

Report red_by_baseline() {
  Report report{sample_run(),
                {simple_result("S/Performance.A/slow", Status::pass, "performance"),
                 simple_result("S/Performance.A/same", Status::pass, "performance")}};
  report.results[0].baseline = {BaselineChange::worse, words};
  report.run.exit_reason = "finished";
  report.run.exit_code = 1;
  report.run.baseline = BaselineFacts{"main", "2 cases: 0 BROKEN, 1 SLOWER", {"Eager moved by +10 %"}, again};
  return report;
}

/// Returns a report whose cases are as expected, but whose exit code is not 0.
Report red_by_exit_code(int code, const std::string& why) {
  Report report{sample_run(), {simple_result("S/Accuracy.A/good", Status::pass)}};
  report.run.exit_reason = "finished";
  report.run.exit_code = code;
  report.run.exit_words = why;
  return report;
}

TEST(OneStory, ACaseWorseThanTheBaselineIsRedEverywhere) {
  const Report report = red_by_baseline();
  EXPECT_EQ(exit_code_of(report.results, /*strict_undecided=*/false), 1);
  EXPECT_THAT(write_html(report),
              AllOf(HasSubstr("1 of 2 cases is not as expected"), HasSubstr("exit code 1: "), HasSubstr(words),
                    HasSubstr("pass, worse than the baseline"), HasSubstr(again), HasSubstr("Eager moved by +10 %"),
                    HasSubstr("1 of 2 cases as expected"), Not(HasSubstr("exit code 0"))));
  EXPECT_THAT(write_junit(report.results, report.run),
              AllOf(HasSubstr("failures=\"1\""), HasSubstr("<failure type=\"worse_than_baseline\" message=\"" + words),
                    HasSubstr("<property name=\"baseline_again\" value=\"" + again),
                    HasSubstr("the comparison again: " + again)));
  EXPECT_THAT(write_annotations(report, ""), AllOf(HasSubstr("::error "), HasSubstr("title=slow::pass: worse than"),
                                                   HasSubstr("%0Athe comparison again: " + again)));
  EXPECT_THAT(write_markdown(report),
              AllOf(HasSubstr("❌ Torchstone: 1 of 2 cases"), HasSubstr("exit code 1"), HasSubstr("1.04x"),
                    HasSubstr("again: `" + again), HasSubstr("#### 1 not as expected")));
  EXPECT_THAT(console::write_summary(report.results, report.run, {}, 200),
              AllOf(HasSubstr("1 of 2 cases as expected, "), HasSubstr(", exit code 1\n"), HasSubstr("1 SLOWER"),
                    HasSubstr("Compared: " + again), HasSubstr("  ! "), HasSubstr(words)));
  EXPECT_THAT(write_openmetrics(report), AllOf(HasSubstr("torchstone_run_exit_code 1\n"),
                                               HasSubstr("torchstone_case_as_expected{case=\"S/Performance.A/slow\"")));
}

// Covers `torchstone-report html --baseline` and `markdown --baseline`. The run itself had no baseline.
TEST(OneStory, AComparisonThatAReportIsAskedForIsInItsHeadline) {
  Report report{sample_run(), {simple_result("S/Performance.A/slow", Status::pass, "performance")}};
  report.run.exit_reason = "finished";
  report.run.exit_code = 0;
  judge::BaselineComparison comparison;
  comparison.cases.resize(1);
  comparison.cases[0].name = report.results[0].name;
  comparison.cases[0].old_status = comparison.cases[0].new_status = "pass";
  comparison.cases[0].change = judge::Change::slower;
  EXPECT_THAT(write_html(report, {.comparison = comparison}),
              AllOf(HasSubstr("1 case worse than the baseline"), Not(HasSubstr("The case is as expected"))));
  EXPECT_THAT(write_markdown(report, {.comparison = comparison}),
              AllOf(HasSubstr("### ❌"), HasSubstr("1 worse than the baseline")));
  comparison.cases[0].change = judge::Change::same;
  EXPECT_THAT(write_html(report, {.comparison = comparison}), HasSubstr("The case is as expected"));
  EXPECT_THAT(write_markdown(report, {.comparison = comparison}), HasSubstr("### ✅"));
}

TEST(OneStory, AComparisonThatCouldNotBeMadeIsInTheHeadline) {
  Report report{sample_run(), {simple_result("S/Performance.A/slow", Status::pass, "performance")}};
  report.run.exit_reason = "finished";
  report.run.exit_code = 0;
  Report other = report;
  report.results[0].outcome.metrics["speedup"] = other.results[0].outcome.metrics["speedup"] = 1.5;
  other.run.machine["cpu"] = "Another CPU";
  const auto refused = judge::compare_with_baseline(other, report);
  const std::string why = "Timings not compared: the baseline is of another machine";
  EXPECT_THAT(write_html(report, {.comparison = refused}),
              AllOf(HasSubstr("<header class=bad>"), HasSubstr(why), Not(HasSubstr("The case is as expected"))));
  EXPECT_THAT(write_markdown(report, {.comparison = refused}), AllOf(HasSubstr("### ❌"), HasSubstr("**" + why + "**")));
  other.run = report.run;
  other.results[0].name = "S/Performance.A/another";
  const auto nothing = judge::compare_with_baseline(other, report);
  const std::string none = "Nothing compared: the baseline has none of these cases";
  EXPECT_THAT(write_html(report, {.comparison = nothing}), AllOf(HasSubstr("<header class=bad>"), HasSubstr(none)));
  EXPECT_THAT(write_markdown(report, {.comparison = nothing}), AllOf(HasSubstr("### ❌"), HasSubstr(none)));
}

TEST(OneStory, AnExitCodeThatNoCaseExplainsIsInEveryReport) {
  for (const auto& [code, why] :
       {std::pair<int, std::string>{2, "timings not compared: the baseline is of another machine"},
        {3, "nothing compared: the baseline has none of these cases"},
        {4, "report writer csv: no space left on device"},
        {5, "undecided, with --torchstone_strict_undecided"}}) {
    const Report report = red_by_exit_code(code, why);
    const std::string said = "xit code " + std::to_string(code);
    EXPECT_THAT(write_html(report),
                AllOf(HasSubstr(said + ": " + why), HasSubstr("<header class=bad>"), Not(HasSubstr("exit code 0"))));
    EXPECT_THAT(write_junit(report.results, report.run),
                AllOf(HasSubstr("tests=\"2\" failures=\"0\" errors=\"1\""), HasSubstr(said + ": " + why + "</error>")));
    EXPECT_THAT(write_annotations(report, ""), HasSubstr("::error title=Torchstone::e" + said));
    EXPECT_THAT(write_markdown(report), AllOf(HasSubstr("### ❌"), HasSubstr(said)));
    EXPECT_THAT(console::write_summary(report.results, report.run, {}, 200), HasSubstr(said + ": " + why));
    EXPECT_THAT(write_openmetrics(report), HasSubstr("torchstone_run_exit_code " + std::to_string(code)));
  }
}

TEST(OneStory, StandsInResultsJsonAndIsReadBack) {
  const Report report = red_by_baseline();
  const Report read = parse_json(write_json(report.results, report.run), "results.json");
  EXPECT_EQ(read.run.exit_code, 1);
  ASSERT_TRUE(read.run.baseline);
  EXPECT_EQ(read.run.baseline->path, "main");
  EXPECT_EQ(read.run.baseline->summary, report.run.baseline->summary);
  EXPECT_EQ(read.run.baseline->remarks, report.run.baseline->remarks);
  EXPECT_EQ(read.run.baseline->again, again);
  EXPECT_EQ(write_html(read), write_html(report));
  const Report code = red_by_exit_code(5, "why");
  EXPECT_EQ(parse_json(write_json(code.results, code.run), "").run.exit_words, "why");
  for (const char* wrong : {"\"1\"", "-1", "256", "1.5"}) {
    std::string text = write_json(code.results, code.run);
    text.replace(text.find("\"exit_code\":5"), 13, std::string("\"exit_code\":") + wrong);
    EXPECT_THROW(parse_json(text, "results.json"), ReportError) << wrong;
  }
}

TEST(OneStory, IsToldByTheFolderUntilAnotherRunAddsToIt) {
  const TemporaryFolder folder;
  Report report = red_by_baseline();
  for (auto& result : report.results) result.origin = {"folder", 1, report.run.id, 1};
  write_reports(report, folder.path());
  EXPECT_EQ(results_folder::merge_results({folder.path()}).report.run.exit_code, 1);
  Result again_alone = simple_result("S/Performance.A/slow", Status::pass, "performance");
  again_alone.origin = {"folder", 2, "another", 1};
  again_alone.recorded = "9999";
  results_folder::write_case(folder.path(), again_alone);
  const Report merged = results_folder::merge_results({folder.path()}).report;
  EXPECT_EQ(merged.run.exit_code, std::nullopt);
  EXPECT_FALSE(merged.run.baseline);
  EXPECT_EQ(exit_code_of(merged), 0);
}

}  // namespace
}  // namespace torchstone::write
