// Runs with --gtest_repeat. A failure in one repetition must be in everything that is later made of the results.

#include <gmock/gmock.h>

#include "reports/judge/baseline.h"
#include "reports/judge/history.h"
#include "reports/judge/table_gate.h"
#include "reports/judge/upstream_tables.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/record/summary.h"
#include "reports/write/formats.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

using testing::ElementsAre;

Result repetition(const std::string& name, Status status, int64_t sequence, const Origin& run = {"f", 1, "x"}) {
  Result result = simple_result(name, status);
  result.origin = run;
  result.origin.sequence = sequence;
  return result;
}

/// Returns the results of two cases in two repetitions. `a` fails in the first one.
std::vector<Result> two_repetitions() {
  return {repetition("a", Status::fail_accuracy, 2), repetition("b", Status::pass, 4), repetition("a", Status::pass, 6),
          repetition("b", Status::pass, 8)};
}

class Repeated : public testing::Test {
 protected:
  std::vector<std::string> merged(const std::vector<std::filesystem::path>& inputs) const {
    std::vector<std::string> words;
    for (const auto& result : merge_results(inputs).report.results)
      words.push_back(result.name + " " + std::string(to_string(result.outcome.status)));
    return words;
  }
  void write_records(const std::vector<Result>& results) const {
    for (auto result : results) {
      result.finished = false;
      --result.origin.sequence;
      write_case(out_, result);
      result.finished = true;
      ++result.origin.sequence;
      write_case(out_, result);
    }
  }
  TemporaryFolder folder_, other_;
  const std::filesystem::path out_ = folder_.path(), json_ = out_ / "results.json";
};

TEST_F(Repeated, AllRecordsOfTheRunStay) {
  write_plan(out_, sample_run(), {repetition("a", Status::pass, 0), repetition("b", Status::pass, 0)});
  write_records(two_repetitions());
  write::write_reports({sample_run(), two_repetitions()}, out_);
  const auto all = ElementsAre("a fail_accuracy", "a pass", "b pass", "b pass");
  EXPECT_THAT(merged({json_}), all);
  EXPECT_THAT(merged({out_}), all);
  EXPECT_THAT(merged({out_, json_}), all) << "the same records again";
  write::write_reports(merge_results({out_}).report, other_.path());
  EXPECT_THAT(merged({other_.path(), out_}), all);
}

TEST_F(Repeated, ALaterRunReplacesThemAll) {
  write::write_reports({sample_run(), two_repetitions()}, out_);
  write_case(out_, repetition("a", Status::pass, 2, {"f", 2, "y"}));
  EXPECT_THAT(merged({out_}), ElementsAre("a pass", "b pass", "b pass"));
  Result plan = repetition("a", Status::pass, 0, {"f", 3, "z"});
  RunInfo later = sample_run();
  later.id = "z";
  write_plan(out_, later, {plan});
  EXPECT_THAT(merged({out_}), ElementsAre("a interrupted", "b pass", "b pass"));
}

TEST_F(Repeated, TheRecordOfAFailureIsNotReplacedByALaterRepetition) {
  write_records(two_repetitions());
  EXPECT_THAT(merged({out_}), ElementsAre("a fail_accuracy", "b pass")) << "no results.json: the run was killed";
  write_records({repetition("a", Status::crash, 10)});
  EXPECT_THAT(merged({out_}), ElementsAre("b pass", "a crash"));
  Result noted = repetition("b", Status::pass, 8);
  noted.baseline = {BaselineChange::worse, "slower"};
  write_case(out_, noted);
  write_records({repetition("b", Status::pass, 12)});
  EXPECT_FALSE(is_fine(merge_results({out_}).report.results.at(0)));
  write_records({repetition("a", Status::pass, 2, {"f", 2, "y"}), repetition("b", Status::pass, 4, {"f", 2, "y"})});
  EXPECT_THAT(merged({out_}), ElementsAre("a pass", "b pass")) << "records of another run do not count";
}

TEST_F(Repeated, EveryVerdictHasTheFailure) {
  write::write_reports({sample_run(), two_repetitions()}, out_);
  const Report report = merge_results({json_}).report;
  EXPECT_EQ(exit_code_of(report.results, false), 1);
  EXPECT_EQ(count_of(write::write_junit(report.results, report.run), "<failure "), 1u);
  for (const auto& path : {json_, out_, out_ / "csv"}) {
    const auto tables = judge::upstream_tables(path, "accuracy");
    ASSERT_EQ(tables.size(), 1u);
    EXPECT_EQ(tables[0].rows.size(), 2u) << "one for each model";
    EXPECT_EQ(judge::gate_exit_code(
                  judge::gate_accuracy(tables[0], parse_csv("name,accuracy\na,pass\nb,pass\n", "e.csv"), {})),
              1);
  }
  const Report before{sample_run(), {simple_result("a", Status::pass), simple_result("b", Status::pass)}};
  EXPECT_TRUE(judge::compare_with_baseline(before, report).cases.at(0).status_worse);
  EXPECT_EQ(judge::history_points(report).at(0).status, "fail_accuracy");
}

}  // namespace
}  // namespace torchstone::results_folder
