#include "reports/record/own_model.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/console/summary_text.h"
#include "reports/record/result_json.h"
#include "reports/record/tables/suite_tables.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Result own(const std::string& check, const std::string& backend = "inductor", const std::string& mode = "inference") {
  Result r = simple_result("own/" + check + ".A/net_" + mode + "_" + backend, Status::pass, check);
  r.suite = "own";
  r.model = "net";
  r.backend = backend;
  r.mode = mode;
  r.preset = "";
  r.own_model = true;
  if (check == "accuracy") r.outcome.metrics = {{"error_of_limit", 0.1}, {"detection_limit", 1.4e-4}};
  if (check == "performance")
    r.outcome.metrics = {{"speedup", 1.26},         {"speedup_low", 1.14}, {"speedup_high", 1.39},
                         {"break_even_calls", 896}, {"compile_s", 8.1},    {"peak_ratio", 1.2}};
  return r;
}

Result with(Result r, Status status, const std::string& reason, const std::map<std::string, double>& metrics = {}) {
  r.outcome.status = status;
  r.outcome.reason = reason;
  for (const auto& [key, value] : metrics) r.outcome.metrics[key] = value;
  return r;
}

Result timed_row(double speedup, double low, double high) {
  return with(own("performance"), Status::pass, "",
              {{"speedup", speedup}, {"speedup_low", low}, {"speedup_high", high}});
}

std::string sentence(const std::vector<Result>& results) {
  const auto sentences = own_model_sentences(results);
  EXPECT_EQ(sentences.size(), 1U);
  return sentences.front().text;
}

TEST(OwnModelSentence, TellsAnswerSpeedAndWhenCompilingPays) {
  EXPECT_EQ(sentence({own("performance"), own("accuracy")}),
            "inductor, inference, float32: correct (an error of 0.014 % would have been seen); 1.26x faster "
            "[1.14, 1.39]; pays for its compile after 900 calls.");
  EXPECT_EQ(sentence({own("accuracy")}),
            "inductor, inference, float32: correct (an error of 0.014 % would have been seen).");
  EXPECT_EQ(sentence({own("performance")}),
            "inductor, inference, float32: 1.26x faster [1.14, 1.39]; pays for its compile after 900 calls.");
}

TEST(OwnModelSentence, OfAWrongAnswerHasNoSpeed) {
  const Result wrong = with(own("accuracy"), Status::fail_accuracy, "output differs.", {{"error_of_limit", 3.4}});
  EXPECT_EQ(sentence({wrong, own("performance")}),
            "inductor, inference, float32: WRONG, by 3.4 times the allowed error; its speed does not count.");
  EXPECT_EQ(own_model_sentences({wrong, own("performance")}).front().mark, '!');
  const Result shapes = with(own("accuracy"), Status::fail_accuracy, "shapes differ.", {{"error_of_limit", nan_value}});
  EXPECT_THAT(sentence({shapes}), HasSubstr("float32: WRONG (fail_accuracy: shapes differ)."));
  Result unexplained = shapes;
  unexplained.outcome.metrics = {{"rounding_times", 3.5}, {"error_of_limit", 0.2}};
  EXPECT_THAT(sentence({unexplained}), HasSubstr("float32: WRONG, by 3.5 times what rounding explains."));
}

TEST(OwnModelSentence, SaysOnceThatAWrongAnswerWasNotTimed) {
  const std::string reason =
      "not timed, because the answer is wrong: " + std::string(140, 'x') + " 2.8807123456789012 is";
  const auto wrong = [&](double times) {
    return sentence({with(own("performance"), Status::fail_accuracy, reason, {{"error_of_limit", times}})});
  };
  EXPECT_EQ(wrong(3.4),
            "inductor, inference, float32: not timed, because the answer is WRONG, by 3.4 times the allowed error.");
  EXPECT_THAT(wrong(nan_value), HasSubstr("xxx …)")) << "numbers must not be truncated";
}

TEST(OwnModelSentence, HasTheReasonOfTheBaseline) {
  Result slower = timed_row(1.2, 1.1, 1.3);
  slower.baseline = {BaselineChange::worse, "at least 2.3 times slower than the baseline: speed-up 2.8x → 1.2x"};
  EXPECT_THAT(sentence({slower}), HasSubstr("; at least 2.3 times slower than the baseline: speed-up 2.8x → 1.2x."));
  slower.baseline.reason.clear();
  EXPECT_THAT(sentence({slower}), HasSubstr("; worse than the baseline."));
}

TEST(OwnModelSentence, TellsWhatWasNotJudged) {
  const auto failed = [](const std::string& check) {
    return with(own(check), Status::fail_to_compile, "no C++ compiler\nmore", {{"speedup", nan_value}});
  };
  EXPECT_EQ(sentence({failed("accuracy"), failed("performance")}),
            "inductor, inference, float32: not judged (fail_to_compile: no C++ compiler); not timed for the same "
            "reason.");
  Result unfinished = own("accuracy");
  unfinished.finished = false;
  EXPECT_THAT(sentence({unfinished}), HasSubstr("not judged (started, never finished)"));
  const Result weak = with(own("accuracy"), Status::pass, "", {{"detection_limit", 0.8}});
  EXPECT_THAT(sentence({weak}), HasSubstr("float32: passed, but an error of up to 80 % would have passed too."));
}

TEST(OwnModelSentence, SaysThatAnAnswerBeyondALimitIsCorrect) {
  EXPECT_EQ(sentence({with(own("accuracy"), Status::fail_compile_time, "130 s of 120 s.", {})}),
            "inductor, inference, float32: correct, but fail_compile_time: 130 s of 120 s.");
}

TEST(OwnModelSentence, HasTheBoundOfAKnownFailure) {
  Result beyond = with(own("accuracy"), Status::fail_accuracy, "output differs.", {{"error_of_limit", 500}});
  beyond.expected = "fail_accuracy";
  beyond.max_error = 3;
  EXPECT_EQ(sentence({beyond}),
            "inductor, inference, float32: WRONG, by 500 times the allowed error; expected fail_accuracy up to 3×.");
}

TEST(OwnModelSentence, NamesThePresetWhereSeveralRan) {
  Result mini = own("accuracy"), full = own("accuracy");
  mini.preset = "mini";
  full.preset = "full";
  full.name += "_full";
  const auto sentences = own_model_sentences({mini, full});
  ASSERT_EQ(sentences.size(), 2U);
  EXPECT_THAT(sentences[1].text, HasSubstr("inductor, inference, float32, full: correct"));
}

TEST(OwnModelSentence, PaysForTheColdCompileOfAnotherCase) {
  const Result warm = with(own("performance"), Status::pass, "",
                           {{"cache_hit", 1}, {"eager_ms", 5}, {"compiled_ms", 4}, {"compile_s", 6}});
  Result without_calls = warm;
  without_calls.outcome.metrics.erase("break_even_calls");
  const Result cold = with(own("accuracy"), Status::pass, "", {{"compile_s", 27}, {"cache_hit", 0}});
  EXPECT_THAT(sentence({cold, without_calls}), HasSubstr("pays for its compile after 27000 calls"));
  EXPECT_THAT(sentence({with(cold, Status::pass, "", {{"cache_hit", 1}}), without_calls}), Not(HasSubstr("pays for")));
}

TEST(OwnModelSentence, NamesTheSizesOfADynamicProgram) {
  Result dynamic = own("accuracy");
  dynamic.outcome.notes["dynamic_judged"] = "2, 4, 11, 15, 16, 17, 64";
  EXPECT_THAT(sentence({dynamic}), HasSubstr("would have been seen); judged at 2, 4, 11, 15, 16, 17, 64."));
  dynamic.outcome.notes["dynamic_judged"] = std::string(500, '2');
  EXPECT_LT(sentence({dynamic}).size(), 200U);
}

TEST(OwnModelSentence, NamesNanOfEager) {
  Result passing = own("accuracy");
  passing.outcome.notes["eager_nan"] = "output [0]: 3 of 4 elements of eager's are NaN";
  EXPECT_THAT(console_row(passing, false, 200), HasSubstr("  NaN: output [0]: 3 of 4 elements of eager's are NaN"));
  passing.outcome.notes["unjudged_outputs"] = "output [1]: pkg.Cache";
  EXPECT_THAT(sentence({passing}), HasSubstr("not judged: output [1]: pkg.Cache; NaN: output [0]: 3 of 4 elements"));
  EXPECT_THAT(sentence({with(passing, Status::fail_accuracy, "wrong", {})}), Not(HasSubstr("NaN")));
}

TEST(OwnModelSentence, NamesTheOutputsThatAreNotJudged) {
  Result passing = own("accuracy");
  passing.outcome.notes["unjudged_outputs"] = "output [1]: pkg.Cache";
  EXPECT_THAT(sentence({passing}), HasSubstr("would have been seen); not judged: output [1]: pkg.Cache."));
  EXPECT_THAT(console_row(passing, false, 200), HasSubstr("  not judged: output [1]: pkg.Cache"));
  passing.outcome.notes["unjudged_outputs"] = std::string(500, 'x');
  EXPECT_LT(sentence({passing}).size(), 300U);
  EXPECT_THAT(sentence({with(passing, Status::fail_accuracy, "wrong", {})}), Not(HasSubstr("not judged")));
}

TEST(OwnModelSentence, HasBothReasonsOfDifferentFailures) {
  const auto failed = [](const char* check, const char* why) {
    return with(own(check), Status::fail_to_compile, why, {{"speedup", nan_value}});
  };
  EXPECT_THAT(sentence({failed("accuracy", "no compiler"), failed("performance", "another")}),
              HasSubstr("not judged (fail_to_compile: no compiler); not timed (fail_to_compile: another)."));
}

TEST(OwnModelSentence, ClaimsNoMoreThanTheInterval) {
  EXPECT_THAT(sentence({timed_row(1.02, 0.97, 1.08)}),
              AllOf(HasSubstr("as fast as eager within its interval, 1.02x [0.97, 1.08]"), Not(HasSubstr("faster"))));
  EXPECT_THAT(sentence({timed_row(0.8, 0.75, 0.86)}),
              AllOf(HasSubstr("slower, 0.80x [0.75, 0.86]; compiling does not pay."), Not(HasSubstr("after"))));
  EXPECT_THAT(sentence({timed_row(1.4, 1.01, 1.9)}), HasSubstr("1.40x faster [1.01, 1.90], noisy"));
  EXPECT_THAT(sentence({timed_row(5.12, 0.0012, 8046)}),
              AllOf(HasSubstr("speed unknown, its interval says nothing"), Not(HasSubstr("5.12")),
                    Not(HasSubstr("pays")), Not(HasSubstr("8046"))));
  EXPECT_THAT(sentence({timed_row(5, 2.1, 12)}), AllOf(HasSubstr("at least 2.10x faster"), Not(HasSubstr("pays"))));
  EXPECT_THAT(sentence({timed_row(0.2, 0.05, 0.4)}), HasSubstr("at most 0.40x, slower"));
  const Result missed = with(own("performance"), Status::fail_speedup, "too slow", {{"required_speedup", 1.5}});
  EXPECT_THAT(sentence({missed}), HasSubstr("1.26x faster [1.14, 1.39], below the required 1.50x"));
}

TEST(OwnModelSentence, IsOneForEachBackendAndModeInOrder) {
  const auto sentences = own_model_sentences(
      {own("accuracy"), own("accuracy", "inductor", "training"), own("accuracy", "torchscript"), own("performance")});
  ASSERT_EQ(sentences.size(), 3U);
  EXPECT_THAT(sentences[0].text, AllOf(HasSubstr("inductor, inference"), HasSubstr("faster")));
  EXPECT_THAT(sentences[1].text, HasSubstr("inductor, training"));
  EXPECT_THAT(sentences[2].text, HasSubstr("torchscript, inference"));
}

std::vector<Result> own_run() {
  return {own("accuracy"), own("performance"), own("accuracy", "torchscript"), own("performance", "torchscript")};
}

/// Matches texts without words that a report about a single model must not have.
const auto says_no_average =
    AllOf(Not(HasSubstr("mini ")), Not(HasSubstr(">mini")), Not(HasSubstr("as expected")), Not(HasSubstr("geometric")),
          Not(HasSubstr("median 0.014 %")), Not(HasSubstr("pass rate")), Not(HasSubstr("Models, operators")));

TEST(OwnModel, HasSentencesInPlaceOfAveragesInEveryReport) {
  const auto results = own_run();
  ASSERT_TRUE(are_of_own_model(results));
  RunInfo run = sample_run();
  run.exit_reason = "finished";
  const std::string text = console::write_summary(results, run, {"out/report.html"}, 80);
  EXPECT_THAT(text, AllOf(testing::StartsWith("Torchstone: net, 312 s\n"), says_no_average,
                          HasSubstr("\n    inductor, inference, float32: correct (an error of 0.014 % would have been\n"
                                    "    seen); 1.26x faster [1.14, 1.39]; pays for its compile after 900 calls.\n")));
  EXPECT_THAT(write::write_markdown({run, results}),
              AllOf(HasSubstr("### ✅ Torchstone: net\n"), HasSubstr("\n- inductor, inference, float32&#58; correct"),
                    says_no_average));
  EXPECT_THAT(write::write_html({run, results}),
              AllOf(HasSubstr("net: all 4 cases passed"), HasSubstr("<li class=ok>"), HasSubstr("1.26x faster"),
                    HasSubstr("<title>Torchstone: net, 4 of 4 cases passed</title>"), says_no_average));
  EXPECT_THAT(write::write_openmetrics({run, results}), Not(HasSubstr("geomean")));
  EXPECT_TRUE(tables::suite_tables(results).empty());
  EXPECT_THAT(console_row(results[1], false), Not(HasSubstr("mini")));
}

TEST(OwnModel, CountsNoCaseThatWasLeftOutAsPassed) {
  auto results = own_run();
  results[3].outcome.status = Status::unsupported;
  EXPECT_THAT(write::write_html({sample_run(), results}),
              AllOf(HasSubstr("net: 3 of 4 cases passed, 1 left out"), HasSubstr("net, 3 of 4 cases passed")));
}

TEST(OwnModel, HasTheNoisyCasesInTheTitleToo) {
  auto results = own_run();
  results[1].outcome.metrics["speedup_low"] = 0.2;
  EXPECT_THAT(write::write_html({sample_run(), results}),
              AllOf(HasSubstr("net: 1 of 4 cases noisy"), HasSubstr("net, 4 of 4 cases passed, 1 noisy</title>")));
}

TEST(OwnModel, SaysAsExpectedOnlyIfTheUserStatedAnExpectation) {
  auto results = own_run();
  results[0] = with(results[0], Status::fail_accuracy, "known");
  EXPECT_THAT(write::write_html({sample_run(), results}), HasSubstr("net: 1 of 4 cases did not pass"));
  EXPECT_THAT(write::write_markdown({sample_run(), results}), HasSubstr("#### 1 did not pass"));
  const std::vector<Result> failed(9, results[0]);
  EXPECT_THAT(write::write_annotations({{}, failed}, ""), HasSubstr("::and 1 more cases that did not pass\n"));
  results[0].expected = "fail_accuracy";
  EXPECT_THAT(console::write_summary(results, {}, {}, 80),
              AllOf(HasSubstr("4 of 4 cases as expected"), HasSubstr("; as expected; ")));
}

TEST(OwnModel, AmongModelsOfTheZooIsALineLikeAnyOther) {
  auto results = own_run();
  results.push_back(simple_result("zoo", Status::pass));
  EXPECT_FALSE(are_of_own_model(results));
  EXPECT_FALSE(are_of_own_model({}));
  EXPECT_THAT(console::write_summary(results, {}, {}), HasSubstr("5 of 5 cases as expected"));
}

TEST(OwnModel, FitsTheLinesOfTheSummary) {
  std::vector<Result> results;
  for (int i = 0; i < 60; ++i) results.push_back(own("accuracy", "backend_" + std::to_string(i)));
  const std::string text = console::write_summary(results, {}, {}, 80);
  EXPECT_LE(std::ranges::count(text, '\n'), 26);
  EXPECT_THAT(text, HasSubstr(" more on the page\n"));
}

TEST(OwnModel, IsKeptInRecords) {
  Result found;
  from_json(nlohmann::json(own("accuracy")), found);
  EXPECT_TRUE(found.own_model);
  EXPECT_EQ(found.preset, "");
  from_json(nlohmann::json(simple_result("zoo", Status::pass)), found);
  EXPECT_FALSE(found.own_model);
}

}  // namespace
}  // namespace torchstone
