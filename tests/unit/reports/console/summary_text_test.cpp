#include "reports/console/summary_text.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/record/summary.h"
#include "tests/unit/reports/format_checks.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::console {
namespace {

using testing::HasSubstr;

std::vector<Result> with_statuses(const std::vector<Status>& statuses) {
  std::vector<Result> results;
  for (const Status status : statuses)
    results.push_back(simple_result("case" + std::to_string(results.size()), status));
  return results;
}

int code(const std::vector<Status>& statuses, bool strict = false) {
  return exit_code_of(with_statuses(statuses), strict);
}

TEST(ExitCode, FollowsTheStatusTable) {
  for (const auto& info : status_table()) {
    const int expected = info.kind == StatusKind::skipped ? 3 : info.status == Status::undecided ? 0 : info.exit_code;
    EXPECT_EQ(code({info.status}), expected) << info.name;
    const int beside_a_pass = info.status == Status::undecided ? 0 : info.exit_code;
    EXPECT_EQ(code({Status::pass, info.status}), beside_a_pass) << info.name;
  }
}

TEST(ExitCode, InterruptedBeforeGateBeforeInfrastructureBeforeUndecided) {
  EXPECT_EQ(code({Status::crash, Status::fail_accuracy, Status::interrupted}), 130);
  EXPECT_EQ(code({Status::crash, Status::fail_accuracy, Status::undecided}, true), 1);
  EXPECT_EQ(code({Status::timeout, Status::undecided}, true), 4);
  EXPECT_EQ(code({Status::pass, Status::undecided}, true), 5);
  EXPECT_EQ(code({Status::pass, Status::undecided}, false), 0);
}

TEST(Summary, ACaseThatTheBaselineMakesRedHasItsReasonInPlaceOfAMargin) {
  auto results = with_statuses({Status::pass});
  results[0].check = "performance";
  results[0].outcome.metrics = {{"speedup", 1.2}, {"speedup_low", 1.1}, {"speedup_high", 1.3}};
  results[0].baseline = {BaselineChange::worse, "at least 27.2 times slower than the baseline: speed-up"};
  const std::string text = write_summary(results, {}, {}, 200);
  EXPECT_THAT(text,
              testing::ContainsRegex("\n  ! SLOWER case0  at least 27\\.2 times slower than the baseline: speed-up "));
  EXPECT_THAT(text, testing::Not(HasSubstr("! inf")));
  results[0].baseline = {BaselineChange::different_model, "different model: its weights are not the baseline's"};
  EXPECT_THAT(write_summary(results, {}, {}, 200), HasSubstr("\n  ! DIFFERENT MODEL case0  different model: "));
}

TEST(ExitCode, NothingMeasuredIsNotGreen) {
  EXPECT_EQ(code({}), 3);
  EXPECT_EQ(code({Status::unsupported, Status::pass_due_to_skip}), 3);
  EXPECT_EQ(code({Status::unsupported, Status::pass}), 0);
}

TEST(ExitCode, ThreeHasWords) {
  auto results = with_statuses({Status::unsupported, Status::pass_due_to_skip, Status::unsupported});
  results[0].outcome.reason = "no CUDA device\nand more";
  results[1].outcome.reason = "";
  EXPECT_EQ(nothing_judged_words(results),
            "nothing was judged: all 3 cases were left out (1 pass_due_to_skip; 2 unsupported: no CUDA device)");
  EXPECT_EQ(nothing_judged_words({}), "nothing was judged: no case ran");
}

TEST(ExitCode, AnUnexpectedPassIsAFailedGateAndAnExpectedFailureIsNot) {
  auto results = with_statuses({Status::pass});
  results[0].expected = "fail_accuracy";
  EXPECT_EQ(exit_code_of(results, false), 1);
  results[0].outcome.status = Status::fail_accuracy;
  EXPECT_EQ(exit_code_of(results, false), 0);
  results[0].outcome.status = Status::crash;
  EXPECT_EQ(exit_code_of(results, false), 4);
  results[0].expected = "undecided";
  results[0].outcome.status = Status::undecided;
  EXPECT_EQ(exit_code_of(results, true), 0);
}

TEST(ExitCode, AnUnfinishedCaseIsACrash) {
  auto results = with_statuses({Status::pass});
  results[0].finished = false;
  EXPECT_EQ(exit_code_of(results, false), 4);
}

Result timing_with(const std::string& model, double speedup, Status status = Status::pass) {
  Result r = simple_result("P." + model, status, "performance");
  r.model = model;
  r.outcome.metrics["speedup"] = speedup;
  return r;
}

TEST(Geomean, TakesMissedSpeedUpsToo) {
  const Geomean geomean = geomean_of(
      {timing_with("a", 4), timing_with("b", 0.25, Status::fail_speedup), timing_with("c", 1, Status::undecided)});
  EXPECT_EQ(geomean.n, 3u);
  EXPECT_DOUBLE_EQ(geomean.value, 1.0);
  EXPECT_TRUE(geomean.excluded.empty());
}

TEST(Geomean, NeverCombinesMachines) {
  std::vector<Result> results = {timing_with("a", 4), timing_with("b", 1), timing_with("c", 9)};
  results[0].machine = results[1].machine = "X, NVIDIA H200";
  results[2].machine = "X, NVIDIA A100";
  // The wrong answer and the timing are from different machines.
  Result wrong = simple_result("A.c", Status::fail_accuracy);
  wrong.model = "c";
  wrong.machine = "X, NVIDIA H200";
  EXPECT_THAT(machines_of_timings(results), testing::ElementsAre("X, NVIDIA A100", "X, NVIDIA H200"));
  EXPECT_EQ(geomean_of(results).n, 0u) << "there is no mean over results of several machines";
  EXPECT_DOUBLE_EQ(geomean_of(results, "X, NVIDIA H200").value, 2);
  EXPECT_DOUBLE_EQ(geomean_of(results, "X, NVIDIA A100").value, 9);
  EXPECT_THAT(write_summary(results, sample_run(), {}, 200),
              testing::AllOf(testing::HasSubstr("speed-up on X, NVIDIA A100: geometric mean 9.000x over 1"),
                             testing::HasSubstr("speed-up on X, NVIDIA H200: geometric mean 2.000x over 2")));
  results.push_back(wrong);
  EXPECT_EQ(geomean_of(results, "X, NVIDIA A100").n, 0u);
}

TEST(Geomean, LeavesOutTheControlUnlessThereIsNothingElse) {
  auto control = timing_with("a", 1.01);
  control.backend = "eager";
  const Geomean geomean = geomean_of({control, timing_with("a", 4)});
  EXPECT_EQ(geomean.n, 1u);
  EXPECT_DOUBLE_EQ(geomean.value, 4);
  EXPECT_EQ(excluded_text(geomean), "1 eager against eager");
  EXPECT_EQ(geomean_of({control}).n, 1u);
}

TEST(Geomean, LeavesOutFilesUnlessThereIsNothingElse) {
  Result file = timing_with("ghostnet_100", 9), answer = simple_result("A.ghostnet_100", Status::fail_accuracy);
  file.own_model = answer.own_model = true;
  const Geomean geomean = geomean_of({file, timing_with("a", 4)});
  EXPECT_DOUBLE_EQ(geomean.value, 4);
  EXPECT_EQ(excluded_text(geomean), "1 of a model of one's own");
  EXPECT_DOUBLE_EQ(geomean_of({file, answer}).value, 9) << "alone it is what was asked for";
  const Average rate = pass_rate_of({answer, simple_result("A.a", Status::pass)});
  EXPECT_DOUBLE_EQ(rate.value, 1);
  EXPECT_EQ(rate.n, 1u);
  EXPECT_DOUBLE_EQ(pass_rate_of({answer, file}).value, 0);
}

TEST(Geomean, LeavesOutPythonsTorchCompileUnlessThereIsNothingNative) {
  Result reference = timing_with("a", 9), answer = simple_result("A.a", Status::fail_accuracy);
  reference.backend = "torch_compile_mode_max_autotune";  // as label_of() writes torch_compile:mode=max-autotune
  answer.backend = "torch_compile";
  Result native = timing_with("a", 4), right = simple_result("A.a", Status::pass);
  native.backend = right.backend = "inductor";
  const Geomean geomean = geomean_of({reference, native});
  EXPECT_DOUBLE_EQ(geomean.value, 4);
  EXPECT_EQ(excluded_text(geomean), "1 of Python's torch.compile");
  EXPECT_DOUBLE_EQ(geomean_of({reference}).value, 9) << "alone it is what was asked for";
  EXPECT_DOUBLE_EQ(pass_rate_of({answer, right}).value, 1);
  EXPECT_EQ(pass_rate_of({answer, right}).n, 1u);
  EXPECT_DOUBLE_EQ(pass_rate_of({answer}).value, 0);
  native.backend = "torch_compiled_by_a_plugin";
  EXPECT_DOUBLE_EQ(geomean_of({reference, native}).value, 4) << "another backend's name";
}

TEST(Geomean, PropagatesTheIntervalsOfItsCases) {
  Result a = timing_with("a", 2), b = timing_with("b", 8);
  a.outcome.metrics["speedup_low"] = 2 / std::exp(0.3);
  b.outcome.metrics["speedup_low"] = 8 / std::exp(0.4);
  a.outcome.metrics["speedup_high"] = 4, b.outcome.metrics["speedup_high"] = 16;
  const Geomean geomean = geomean_of({a, b});
  EXPECT_DOUBLE_EQ(geomean.value, 4);
  EXPECT_NEAR(geomean.low, 4 / std::exp(0.5 / 2), 1e-12);
  EXPECT_NEAR(geomean.high, 4 * std::exp(std::sqrt(2) * std::log(2) / 2), 1e-12);
  b.outcome.metrics["speedup_low"] = 0;  // too few rounds
  EXPECT_DOUBLE_EQ(geomean_of({a, b}).value, 2) << "a ratio with a useless interval is in no mean";
}

TEST(Geomean, LeavesOutWrongAnswersAndWhatWasNotMeasured) {
  Result unmeasured = simple_result("P.d", Status::fail_to_compile, "performance");
  Result wrong = simple_result("A.b", Status::fail_accuracy);
  wrong.model = "b";
  const Geomean geomean = geomean_of({timing_with("a", 2), timing_with("b", 100), timing_with("c", std::nan("")),
                                      timing_with("e", 0), unmeasured, wrong});
  EXPECT_EQ(geomean.n, 1u);
  EXPECT_DOUBLE_EQ(geomean.value, 2.0);
  EXPECT_EQ(geomean.excluded,
            (std::map<std::string, size_t>{{"with a wrong answer", 1}, {"pass", 2}, {"fail_to_compile", 1}}));
}

TEST(Geomean, CallsOnlyAComparedAnswerWrong) {
  Result wrong = simple_result("A.a", Status::fail_accuracy),
         uncompiled = simple_result("A.b", Status::fail_to_compile), killed = simple_result("A.c", Status::pass);
  wrong.model = "a";
  uncompiled.model = "b";
  killed.model = "c";
  killed.finished = false;
  const Geomean geomean =
      geomean_of({timing_with("a", 2), timing_with("b", 2), timing_with("c", 2), wrong, uncompiled, killed});
  EXPECT_EQ(geomean.n, 0u);
  EXPECT_EQ(excluded_text(geomean),
            "1 whose accuracy is crash, 1 whose accuracy is fail_to_compile, 1 with a wrong answer");
}

TEST(PassRate, CountsUpstreamsWordPassAndNamesWhatWasNotRun) {
  auto results =
      with_statuses({Status::pass, Status::pass, Status::uninformative, Status::crash, Status::pass_due_to_skip,
                     Status::unsupported, Status::unsupported, Status::interrupted, Status::pass});
  results.back().finished = false;
  results.push_back(timing_with("a", 2));
  const Average rate = pass_rate_of(results);
  EXPECT_DOUBLE_EQ(rate.value, 0.4);
  EXPECT_EQ(rate.n, 5u);
  EXPECT_EQ(excluded_text(rate), "1 interrupted, 1 pass_due_to_skip, 2 unsupported");
  EXPECT_EQ(pass_rate_of({}).n, 0u);
}

TEST(MeanOfTimings, LeavesOutTheSameAndWhatWasNotMeasured) {
  auto results = std::vector{timing_with("a", 2), timing_with("b", 2), timing_with("c", 2), timing_with("d", 2)};
  for (size_t i = 0; i < results.size(); ++i) results[i].outcome.metrics["compile_s"] = static_cast<double>(i);
  Result wrong = simple_result("A.d", Status::fail_accuracy);
  wrong.model = "d";
  results.push_back(wrong);
  const Average mean = mean_of(results, "compile_s");
  EXPECT_DOUBLE_EQ(mean.value, 1.5);
  EXPECT_EQ(mean.n, 2u);
  EXPECT_EQ(excluded_text(mean), "1 pass, 1 with a wrong answer");
  EXPECT_THAT(write_summary(results, {}, {}), HasSubstr("pass rate 0.0 % of 1\n  compile: mean 1.5 s over 2\n"));
}

TEST(Summary, HasAtMostTwentySevenLines) {
  std::vector<Result> results;
  for (int i = 0; i < 40; ++i) {
    for (auto result : sample_results()) results.push_back(std::move(result));
  }
  const std::vector<std::string> paths(50, "out/file.csv");
  for (const size_t width : {40, 80, 160, 200}) {
    const std::string text = write_summary(results, sample_run(), paths, width);
    EXPECT_LE(std::ranges::count(text, '\n'), 27) << text;
    EXPECT_THAT(text, HasSubstr("more not as expected\n"));
  }
}

TEST(Summary, ShowsTheWorstByMarginAndTheFirstLineToReproduce) {
  auto results = with_statuses({Status::pass, Status::pass, Status::fail_accuracy});
  results[0].outcome.metrics["error_of_limit"] = 0.1;
  results[1].outcome.metrics["error_of_limit"] = 0.9;
  const std::string text = write_summary(results, {}, {});
  EXPECT_LT(text.find("case2"), text.find("case1"));
  EXPECT_LT(text.find("case1"), text.find("case0"));
  EXPECT_THAT(text, HasSubstr("Worst first by margin (error/allowed, required/reached speed-up, inf: neither):\n"));
  EXPECT_THAT(text, HasSubstr("\n  ! inf   case2  fail_accuracy"));
  EXPECT_THAT(text, HasSubstr("\n    0.9   case1"));
  EXPECT_THAT(text, HasSubstr("Torchstone: 2 of 3 cases as expected"));
  EXPECT_THAT(text, HasSubstr("Again: ./torchstone --gtest_filter='case2'"));
}

TEST(Summary, FitsEveryWidthAndKeepsWhatIsTypedNextWhole) {
  const std::string page = "/a/path/that/is/rather/long/and/is/opened/by/the/next/command/report.html";
  for (size_t width = 30; width <= 220; ++width) {
    const auto lines = text_lines(write_summary(sample_results(), sample_run(), {"out/results.json", page}, width));
    ASSERT_GE(lines.size(), 3u);
    for (const auto& line : lines)
      EXPECT_TRUE(columns(line) <= width || line.starts_with("Again: ") || line.starts_with("Report: ")) << line;
    EXPECT_EQ(lines[lines.size() - 3], "Report: " + page);
    EXPECT_EQ(lines[lines.size() - 2], "Also written: results.json");
    EXPECT_THAT(lines.back(), testing::AllOf(testing::StartsWith("Again: ./torchstone"), testing::EndsWith("_cpu'")));
  }
}

TEST(Summary, CountsTheTablesInFoldersBelowThePage) {
  const auto lines = text_lines(write_summary(
      sample_results(), sample_run(), {"out/report.html", "out/csv/a.csv", "out/csv/b.csv", "out/slowest.md"}, 120));
  EXPECT_THAT(lines, testing::Contains("Also written: slowest.md, csv/ (2 tables)"));
}

TEST(Summary, ShortensTheNameBeforeStatusAndReason) {
  auto results = with_statuses({Status::timeout});
  results[0].name = "faults/Accuracy.CompiledMatchesEager/allocates_inference_float32_torchscript_cpu";
  results[0].outcome.reason = "not done after 3 s, in phase load";
  EXPECT_THAT(write_summary(results, {}, {}, 80),
              HasSubstr("\n  ! inf   */allocates_infere*32_torchscript_cpu  timeout  not done after 3 s, i…\n"));
  EXPECT_THAT(write_summary(results, {}, {}, 70),
              HasSubstr("\n  ! inf   */allocates_i*rchscript_cpu  timeout  not done after 3 s, i…\n"));
  EXPECT_THAT(write_summary(results, {}, {}, 120),
              HasSubstr("\n  ! inf   faults/Accuracy.*/allocates_inference_float32_torchscript_cpu  timeout  not done "
                        "after 3 s, in phase "
                        "load\n"));
}

TEST(Summary, OfAnInterruptedRunNamesItsFailuresFirst) {
  auto results = with_statuses({Status::interrupted, Status::fail_accuracy, Status::interrupted});
  const std::string text = write_summary(results, {}, {});
  EXPECT_LT(text.find("case1"), text.find("case0"));
  EXPECT_THAT(text, HasSubstr("Again: ./torchstone --gtest_filter='case1'"));
  results.erase(results.begin() + 1);
  EXPECT_THAT(write_summary(results, {}, {}), HasSubstr("Again: ./torchstone --gtest_filter='case0'"));
}

TEST(Summary, OfNothingSaysSo) { EXPECT_EQ(write_summary({}, {}, {}), "Torchstone: 0 of 0 cases as expected, 0 s\n"); }

}  // namespace
}  // namespace torchstone::console
