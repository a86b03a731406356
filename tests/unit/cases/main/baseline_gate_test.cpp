#include "cases/main/baseline_gate.h"

#include <gmock/gmock.h>

namespace torchstone {
namespace {

Result record(Status status, double bytes) {
  Result result;
  result.name = "suite/Performance.A/case";
  result.outcome.status = status;
  result.outcome.metrics["compiled_peak_bytes"] = bytes;
  return result;
}

std::vector<bool> marked(const Result& before, const std::vector<Result>& now) {
  judge::Baseline baseline;
  baseline.report.results = {before};
  Report run{{}, now};
  EXPECT_EQ(judge_against(baseline, {}, {}, run).exit_code, 1);
  std::vector<bool> marks;
  for (const auto& result : run.results) marks.push_back(result.outcome.notes.contains("worse_than_baseline"));
  return marks;
}

TEST(ARunAgainstItsBaseline, MarksTheRepetitionThatWasCompared) {
  EXPECT_THAT(marked(record(Status::fail_to_run, 100), {record(Status::fail_to_run, 101), record(Status::pass, 100)}),
              testing::ElementsAre(true, false))
      << "a repetition that is not as expected stands for its case";
  EXPECT_THAT(marked(record(Status::pass, 100), {record(Status::pass, 101), record(Status::pass, 101)}),
              testing::ElementsAre(false, true));
}

TEST(ARunAgainstItsBaseline, IsRefusedInTheWordsOfTheReports) {
  judge::Baseline other;
  other.report.results = {record(Status::pass, 100)};
  other.report.results[0].name = "suite/Performance.A/another";
  Report run{{}, {record(Status::pass, 100)}};
  const BaselineVerdict verdict = judge_against(other, {}, {}, run);
  EXPECT_EQ(verdict.exit_code, 3);
  EXPECT_EQ(verdict.why, "nothing compared: the baseline has none of these cases");
}

}  // namespace
}  // namespace torchstone
