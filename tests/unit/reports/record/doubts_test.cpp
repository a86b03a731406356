#include "reports/record/doubts.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/base/text.h"
#include "reports/console/summary_text.h"
#include "reports/record/report_json.h"
#include "reports/record/summary.h"
#include "reports/record/tables/suite_tables.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Result timed(double speedup, double low, double high, const std::string& name = "S/Performance.A/model") {
  Result result = simple_result(name, Status::pass, "performance");
  result.outcome.metrics = {{"speedup", speedup}, {"speedup_low", low}, {"speedup_high", high}};
  return result;
}

TEST(Noise, IsAnIntervalWithoutABoundOrWiderThanAQuarterOnEachSide) {
  EXPECT_THAT(noisy_reason(timed(1.02, 0, infinity)), HasSubstr("no bound"));
  EXPECT_THAT(noisy_reason(timed(1.02, 0.9, infinity)), HasSubstr("no bound"));
  EXPECT_THAT(noisy_reason(timed(1.02, nan_value, nan_value)), HasSubstr("no bound"));
  EXPECT_EQ(noisy_reason(timed(1, 0.7, 1.3)), "its interval is ±30 % wide");
  EXPECT_EQ(noisy_reason(timed(1, 0.76, 1.24)), "");
  EXPECT_EQ(noisy_reason(timed(2, 1.51, 2.49)), "");
  EXPECT_EQ(noisy_reason(timed(5.12, 0.5, 10)), "its interval says nothing: the bounds differ by a factor of 20");
  EXPECT_EQ(noisy_reason(timed(0.02, 0.002, 0.05)), "its interval says no more than at most 0.05x");
  EXPECT_EQ(noisy_reason(timed(5, 2.1, 42)), "its interval says no more than at least 2.10x");
  Result noted = timed(1, 0.99, 1.01);
  noted.outcome.why_noisy = "two processes differ by 12 %";
  EXPECT_EQ(noisy_reason(noted), "two processes differ by 12 %");
  Result unmeasured = simple_result("a", Status::crash, "performance");
  EXPECT_EQ(noisy_reason(unmeasured), "");
  Result old = timed(1, 0, 0);
  old.outcome.metrics.erase("speedup_low");
  EXPECT_EQ(noisy_reason(old), "");
}

TEST(Noise, AUselessIntervalNeverLooksLikeAResultOnTheConsole) {
  const std::string row = console_row(timed(1.02, 0, infinity), /*color=*/false);
  EXPECT_THAT(row, AllOf(HasSubstr("[ NOISY  ] ~ "), HasSubstr("speed-up unknown (noisy)"), Not(HasSubstr("1.02")),
                         HasSubstr("noisy: its interval has no"), Not(HasSubstr("inf")), Not(HasSubstr("PASS"))));
  EXPECT_THAT(console_row(timed(1.02, 1.01, 1.03), false), HasSubstr("[  PASS  ]   S/Performance.*/model"));
  Result undecided = timed(1.02, 0.5, 2);
  undecided.outcome.status = Status::undecided;
  undecided.outcome.reason = "neither";
  EXPECT_THAT(console_row(undecided, false), AllOf(HasSubstr("UNSURE"), HasSubstr("(noisy)"), HasSubstr("neither")));
}

TEST(Noise, OfARowThatIsNotWordedNoisyHasItsReasonBelowTheRow) {
  Result undecided = timed(1.02, 0.5, 2);
  undecided.outcome.status = Status::undecided;
  undecided.outcome.reason = "speed-up 1.020x, required 1.000x: not decided; the budget ended";
  EXPECT_THAT(
      console_row(undecided, false),
      AllOf(HasSubstr("the budget ended\n             noisy: its interval is ±74 % wide"), Not(EndsWith("\n"))));
  Result too_slow = timed(0.5, 0.3, 0.7);
  too_slow.outcome.status = Status::fail_speedup;
  too_slow.outcome.reason = "too slow";
  EXPECT_THAT(
      console_row(too_slow, false),
      HasSubstr("\n             too slow\n             noisy: its interval is ±40 % wide\n             again: "));
  Result apart = timed(1.02, 0.99, 1.05);
  apart.outcome.status = Status::undecided;
  apart.outcome.why_noisy = "the threads ran in different cache domains";
  apart.outcome.reason = "not decided; the threads ran in different cache domains";
  EXPECT_THAT(console_row(apart, false),
              AllOf(EndsWith("the threads ran in different cache domains"), Not(HasSubstr("\n"))));
}

TEST(Noise, DoubtsOfATimedRowStandBelowItOnTheConsole) {
  Result doubted = timed(1.02, 0.99, 1.05);
  doubted.outcome.notes["doubts"] = "7 % of the cores were used by other processes while it was measured.";
  EXPECT_THAT(
      console_row(doubted, false),
      AllOf(HasSubstr("[  PASS  ]"), EndsWith("1.02x [0.99 1.05]\n             doubts: "
                                              "7 % of the cores were used by other processes while it was measured.")));
  doubted.outcome.why_noisy = "The threads ran in different cache domains.";
  doubted.outcome.notes["doubts"] =
      "The clock fell. The threads ran in different cache domains. Process 2: the clock fell.";
  EXPECT_EQ(other_doubts(doubted), "The clock fell. Process 2: the clock fell.");
  EXPECT_THAT(console_row(doubted, false),
              AllOf(HasSubstr("noisy: The threads ran in different cache domains.\n             doubts: The clock"),
                    Not(HasSubstr("fell. The threads"))));
  doubted.outcome.notes["doubts"] = "The threads ran in different cache domains.";
  EXPECT_EQ(other_doubts(doubted), "");
  EXPECT_THAT(console_row(doubted, false), Not(HasSubstr("doubts")));
}

TEST(Noise, DoubtsFitTheTerminal) {
  Result doubted = timed(1.02, 0.99, 1.05);
  doubted.outcome.notes["doubts"] = std::string(1000, 'd') + "\x1b[31m";
  for (const size_t width : {size_t{1}, size_t{80}, size_t{120}}) {
    const std::string row = console_row(doubted, false, width);
    ASSERT_EQ(count_of(row, "\n"), 1u);
    EXPECT_LE(columns(row.substr(row.find('\n') + 1)), std::max(width, size_t{25})) << width;
  }
  EXPECT_THAT(console_row(doubted, false), Not(HasSubstr("\x1b")));
}

TEST(Noise, IsCountedAndMarkedInMeansAndTablesAndPages) {
  std::vector<Result> results = {timed(1.02, 0.6, 1.4, "S/Performance.A/wide"), timed(2, 1.9, 2.1)};
  for (auto& result : results) result.backend = "inductor", result.model = result.name;
  results[1].dtype = "bfloat16";
  const Report report{sample_run(), results};
  EXPECT_EQ(geomean_of(results).noisy, 1u);
  EXPECT_THAT(console::write_summary(results, sample_run(), {}, 200),
              AllOf(HasSubstr("2 pass, 1 noisy"), HasSubstr("over 2 mini models, 1 of them noisy")));
  EXPECT_THAT(
      write::write_markdown(report),
      AllOf(HasSubstr("#### 1 noisy"), HasSubstr("1.020x \\[0.600 1.400\\] noisy&#58; its interval is ±39 % wide"),
            HasSubstr("1 of them noisy")));
  EXPECT_THAT(write::write_html(report),
              AllOf(HasSubstr("As expected, but 1 of 2 cases noisy"), HasSubstr("pass, noisy</i>"),
                    HasSubstr("noisy: its interval is ±39 % wide"), HasSubstr("1 of them noisy")));
  const auto table = tables::speedup_table(results);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.at(0).at(2) + table->rows.at(0).at(3) + table->rows.at(1).at(2) + table->rows.at(1).at(3),
            "2.00x1.02x noisy");
  EXPECT_EQ(exit_code_of(results, false), 0);
}

TEST(UnknownSpeedup, IsNoNumberInAnyReportAndInNoMean) {
  std::vector<Result> results = {timed(5.12, 0.0012, 8046, "S/Performance.A/wide"), timed(2, 1.9, 2.1)};
  for (auto& result : results) result.backend = "inductor", result.model = result.name;
  results[0].outcome.metrics["hodges_lehmann"] = 5.1201;
  results[0].outcome.metrics["break_even_calls"] = 8046;
  results[1].dtype = "bfloat16";
  const Report report{sample_run(), results};
  const Geomean geomean = geomean_of(results);
  EXPECT_DOUBLE_EQ(geomean.value, 2);
  EXPECT_EQ(excluded_text(geomean), "1 with too wide an interval");
  const auto no_number = AllOf(Not(HasSubstr("5.12")), Not(HasSubstr("8046")));
  EXPECT_THAT(console_row(results[0], false), AllOf(HasSubstr("speed-up unknown (noisy)"), no_number));
  EXPECT_THAT(console::write_summary(results, sample_run(), {}, 200),
              AllOf(HasSubstr("geometric mean 2.000x over 1"), no_number));
  EXPECT_THAT(write::write_markdown(report), AllOf(HasSubstr("| unknown noisy&#58; "), no_number));
  EXPECT_THAT(write::write_html(report),
              AllOf(HasSubstr("<td class=n>unknown"), HasSubstr("<td>unknown noisy"), no_number));
  EXPECT_THAT(write::write_summary_csv(results), AllOf(HasSubstr("speed-up: 1 with too wide an interval"), no_number));
  EXPECT_THAT(write::write_openmetrics(report),
              AllOf(HasSubstr("torchstone_case_noisy{case=\"S/Performance.A/wide\""), HasSubstr("} 2\n"), no_number));
  const auto table = tables::speedup_table(results);
  ASSERT_TRUE(table);
  EXPECT_THAT(table->rows.at(1), testing::Contains("unknown"));
  EXPECT_EQ(margin_of(results[0]), 0) << "a bound of 0.0012 is no margin either";
}

TEST(UnknownCompileTime, IsNoNumberEither) {
  Result result = simple_result("S/CompileTime.A/net", Status::pass, "compile_time");
  result.outcome.metrics = {{"cold_compile_s", 77.31},         {"cold_compile_s_low", 0.002},
                            {"cold_compile_s_high", 8046},     {"cold_compile_cpu_s", 99.47},
                            {"cold_compile_cpu_s_low", 0.003}, {"cold_compile_cpu_s_high", 8046},
                            {"warm_compile_s", 2.25}};
  EXPECT_EQ(compile_text(result), "unknown (CPU unknown), warm 2.25 s");
  const auto no_number = AllOf(Not(HasSubstr("77.31")), Not(HasSubstr("99.47")), Not(HasSubstr("8046")));
  EXPECT_THAT(console_row(result, false), no_number);
  result.outcome.status = Status::fail_compile_time;  // a case with all of its metrics
  EXPECT_THAT(write::write_html({sample_run(), {result}}), AllOf(HasSubstr("<td>unknown"), no_number));
}

TEST(UnknownSpeedup, IsNamedByTheBoundThatExcludesOne) {
  EXPECT_EQ(speedup_text(timed(5, 2.1, 12), 2), "at least 2.10x");
  EXPECT_EQ(speedup_text(timed(0.2, 0.05, 0.4), 2), "at most 0.40x");
  EXPECT_EQ(speedup_text(timed(1, 0, infinity), 2), "unknown");
  EXPECT_EQ(speedup_text(timed(1, nan_value, nan_value), 2), "unknown");
  EXPECT_EQ(speedup_text(timed(1.43, 1.4, 1.46), 2), "1.43x [1.40 1.46]");
  EXPECT_EQ(speedup_text(simple_result("a", Status::pass), 2), "");
  EXPECT_EQ(ratio_text(2, 1.9, 2.1, 3), "2.000x [1.900 2.100]");
  EXPECT_FALSE(is_unknown(timed(1.43, 1.4, 1.46), "speedup"));
  EXPECT_FALSE(is_unknown(timed(1.43, 0, infinity), "compile_s")) << "the metric has no interval";
}

TEST(Noise, LeavesNumbersInCsv) {
  const std::string csv = write::write_wide_csv({timed(1.02, 0.5, 2)});
  EXPECT_THAT(csv, AllOf(HasSubstr(",1.02,0.5,2,"), HasSubstr("noisy: its interval is ±74 % wide")));
}

Result limited(const std::string& model, double limit, Status status = Status::pass) {
  Result r = simple_result(model, status);
  r.mode = "training";
  r.outcome.metrics["detection_limit"] = limit;
  r.outcome.notes["detection_limit_of"] = "gradients." + model;
  return r;
}

TEST(Detection, IsTheMedianAndTheWorstOfThePasses) {
  const std::vector<Result> results{limited("a", 0.001),
                                    limited("b", 0.02),
                                    limited("c", 0.5),
                                    limited("d", 0.03),
                                    limited("red", 9, Status::fail_accuracy),
                                    simple_result("none", Status::pass)};
  const Detection found = detection_of(results);
  EXPECT_EQ(found.n, 4U);
  EXPECT_DOUBLE_EQ(found.median, 0.025);
  EXPECT_DOUBLE_EQ(found.worst, 0.5);
  EXPECT_EQ(detection_words(found), "detection limit: median 2.5 %, worst 50 % (c, gradients.c) over 4");
  EXPECT_EQ(weak_words(found), "weak, an error over 10 % would pass too: 1 of 4: c training");
  EXPECT_EQ(detection_words(detection_of({})), "");
}

TEST(Detection, OfAPassWithoutAnyIsWeak) {
  EXPECT_TRUE(is_weak(limited("a", infinity)));
  EXPECT_TRUE(is_weak(limited("a", 0.1001)));
  EXPECT_FALSE(is_weak(limited("a", 0.1)));
  EXPECT_FALSE(is_weak(limited("a", 0.5, Status::fail_accuracy))) << "a failed case is not weak";
  EXPECT_EQ(detection_of({limited("a", infinity), limited("b", infinity)}).median, infinity);
  EXPECT_EQ(limit_text(infinity), "none");
  EXPECT_EQ(limit_text(0.00254), "0.25 %");
  EXPECT_EQ(limit_text(1.92), "192 %");
  EXPECT_EQ(limit_text(0.1), "10 %");
  EXPECT_EQ(limit_text(0.1021), "10.2 %") << "rounding to 10 % would hide that it exceeds 10 %";
  EXPECT_EQ(limit_text(0.1001), "10.01 %");
  EXPECT_EQ(limit_text(0.106), "11 %");
  EXPECT_EQ(limit_text(7.2e48), "7.2e+50 %") << "gradients without bound";
}

TEST(Detection, IsTheSmallerLimitOfToleranceAndRounding) {
  Result sharp = limited("sharp", 0.81);
  sharp.outcome.metrics["rounding_times"] = 0.3;
  sharp.outcome.metrics["rounding_limit"] = 2e-4;
  sharp.outcome.notes["rounding_limit_of"] = "gradients.other";
  EXPECT_FALSE(is_weak(sharp));
  EXPECT_EQ(weak_reason(sharp), "");
  EXPECT_EQ(numbers_line(sharp), "0.3× rounding (limit 0.02 %)");
  EXPECT_EQ(detection_words(detection_of({sharp})),
            "detection limit: median 0.02 %, worst 0.02 % (sharp, gradients.other) over 1");
  Result coarse = sharp;
  coarse.outcome.metrics["rounding_limit"] = 0.2;
  EXPECT_TRUE(is_weak(coarse));
  EXPECT_EQ(weak_reason(coarse), "an error of up to 20 % would have passed too");
  EXPECT_EQ(numbers_line(coarse), "0.3× rounding  weak: limit 20 % (tolerance alone 81 %)");
  coarse.outcome.metrics["detection_limit"] = 0.1021;
  EXPECT_EQ(numbers_line(coarse), "0.3× rounding  weak: limit 10.2 % (rounding alone 20 %)");
  Result alone = coarse;
  alone.outcome.metrics.erase("detection_limit");
  EXPECT_EQ(pass_limit(alone)->tensor, "gradients.other");
  Result without = sharp;
  without.outcome.metrics.erase("rounding_limit");
  EXPECT_TRUE(is_weak(without)) << "rounding judged it, but no tensor has a limit";
  EXPECT_EQ(rounding_text(without), "0.3× rounding");
  EXPECT_EQ(weak_limits(without), "weak: limit 81 % (tolerance)");
  EXPECT_EQ(weak_limits(sharp), "");
  EXPECT_EQ(rounding_text(limited("a", 0.81)), "");
  const Report report{{}, {sharp}};
  const std::string page = write::write_html(report, {});
  EXPECT_THAT(page, AllOf(HasSubstr("Error / rounding"), HasSubstr("0.3×"), HasSubstr("0.02 %")));
  EXPECT_EQ(page.find("<b>weak</b>"), std::string::npos);
}

TEST(Rounding, OrdersTheCasesAndTheirMargins) {
  const auto judged = [](const std::string& name, double times, double error) {
    Result r = simple_result(name, times > 1 ? Status::fail_accuracy : Status::pass);
    r.model = name;
    r.outcome.metrics = {{"rounding_times", times}, {"error_of_limit", error}};
    return r;
  };
  const Result quiet = judged("quiet", 0.2, 0.1), red = judged("red", 3.5, 0.4), near = judged("near", 0.9, 0.4);
  Result only_tolerance = simple_result("only_tolerance", Status::pass);
  only_tolerance.outcome.metrics = {{"error_of_limit", 0.7}};
  EXPECT_EQ(margin_of(red), 3.5) << "the tolerance accepts it";
  EXPECT_EQ(margin_of(near), 0.9);
  EXPECT_EQ(margin_of(only_tolerance), 0.7);
  EXPECT_EQ(margin_of(judged("replaced", 0.5, 4)), 0.5) << "the tolerance did not decide";
  const Report report{{}, {only_tolerance, quiet, red, near}}, plain{{}, {only_tolerance}};
  const std::string page = write::write_html(report, {});
  std::vector<size_t> places;
  const auto table = page.find("<table id=table>");
  for (const char* anchor : {"c2", "c3", "c1", "c0"})
    places.push_back(page.find(fmt::format("<a href=#{}>", anchor), table));
  EXPECT_TRUE(std::ranges::is_sorted(places)) << testing::PrintToString(places);
  EXPECT_THAT(page, HasSubstr("In the order of error / rounding"));
  EXPECT_THAT(write::write_html(plain, {}), Not(HasSubstr("In the order of")));
}

TEST(Ranks, HaveTheirScalingInTheRow) {
  Result ddp = timed(1.5, 1.4, 1.6);
  const auto add = [&](const std::string& key, double value, double low, double high) {
    ddp.outcome.metrics.insert({{key, value}, {key + "_low", low}, {key + "_high", high}});
  };
  EXPECT_THAT(numbers_line(ddp), Not(HasSubstr("scaling")));
  add("eager_scaling", 0.5, 0.4, 0.6);
  EXPECT_THAT(numbers_line(ddp), EndsWith("scaling 0.50x [0.40 0.60]")) << "only eager ran";
  add("compiled_scaling", 0.8, 0.75, 0.85);
  EXPECT_THAT(numbers_line(ddp), EndsWith("scaling 0.80x [0.75 0.85]")) << "as in FSDP";
  add("compiled_exchange_cost", 1.25, 1, 1.6);
  ddp.outcome.metrics["compiled_exposed_pct"] = 20;
  EXPECT_THAT(console_row(ddp, false), HasSubstr("scaling 0.80x [0.75 0.85]  exposed 20.0% [0.0 37.5]"));
  EXPECT_FALSE(follows_from_unknown(ddp, "compiled_exposed_pct"));
  ddp.outcome.metrics["compiled_exchange_cost_high"] = infinity;
  EXPECT_THAT(numbers_line(ddp), EndsWith("exposed unknown"));
  EXPECT_TRUE(follows_from_unknown(ddp, "compiled_exposed_pct"));
}

TEST(Detection, StandsInEveryReport) {
  const Report report{{}, {limited("strong", 0.004), limited("feeble", 0.8)}};
  EXPECT_THAT(numbers_line(report.results[1]), HasSubstr("weak: limit 80 % (tolerance)"));
  Result timed = report.results[1], rounding = report.results[1];
  timed.check = "performance";
  EXPECT_THAT(weak_reason(timed), HasSubstr("80 % would have passed too (by the tolerance, the only rule here)"));
  EXPECT_THAT(weak_reason(report.results[1]), EndsWith("would have passed too"));
  rounding.outcome.metrics["rounding_limit"] = 0.49;
  EXPECT_THAT(numbers_line(rounding), HasSubstr("weak: limit 49 % (tolerance alone 80 %)"));
  EXPECT_THAT(numbers_line(report.results[0]), Not(HasSubstr("weak")));
  const std::string summary = console::write_summary(report.results, report.run, {}, 120);
  EXPECT_THAT(summary, HasSubstr("detection limit: median 40 %, worst 80 % (feeble, gradients.feeble) over 2"));
  EXPECT_THAT(summary, HasSubstr("1 of 2: feeble training"));
  const std::string json = write_json(report.results, report.run);
  EXPECT_THAT(json, HasSubstr("\"detection_limit_worst\":0.8"));
  EXPECT_THAT(json, HasSubstr("\"weak\":1"));
  EXPECT_THAT(json, HasSubstr("\"detection_limit_of\":\"gradients.strong\""));
  const std::string markdown = write::write_markdown(report, {});
  EXPECT_THAT(markdown, HasSubstr("pass, weak"));
  EXPECT_THAT(markdown, HasSubstr("worst 80 %"));
  EXPECT_THAT(write::write_wide_csv(report.results), HasSubstr("weak: an error of up to 80 % would have passed too"));
  const std::string metrics = write::write_openmetrics(report);
  EXPECT_THAT(metrics, testing::ContainsRegex("torchstone_case_weak\\{case=\"feeble\"[^}]*\\} 1\n"));
  EXPECT_THAT(metrics, testing::ContainsRegex("torchstone_case_weak\\{case=\"strong\"[^}]*\\} 0\n"));
  const std::string page = write::write_html(report, {});
  EXPECT_THAT(page, HasSubstr("80 % <b>weak</b>"));
  EXPECT_THAT(page, HasSubstr("1 of 2: feeble training"));
}

TEST(Detection, MarksWeakPassesInJUnitWithPropertiesAndWithout) {
  const std::vector<Result> results{limited("strong", 0.004), limited("feeble", 0.8), limited("blind", infinity)};
  const std::string full = write::write_junit(results, {});
  EXPECT_THAT(full, HasSubstr("<property name=\"weak\" value=\"an error of up to 80 % would have passed too\"/>"));
  EXPECT_EQ(count_of(full, "<property name=\"weak\""), 2u);
  const std::string strict = write::write_junit(results, {}, {.testcase_properties = false});
  EXPECT_THAT(strict, HasSubstr("weak=an error of up to 80 % would have passed too"));
  EXPECT_THAT(strict, HasSubstr("weak=any error would have passed too"));
}

TEST(Detection, IsSummedUpInSummaryCsvBesideTheNoisyRows) {
  Result timed = simple_result("timed", Status::pass, "performance");
  timed.outcome.metrics = {{"speedup", 1.1}, {"speedup_low", 0.5}, {"speedup_high", 1.7}};
  timed.mode = "training";
  const std::string text = write::write_summary_csv(
      {limited("a", 0.02), limited("b", 0.5), timed, limited("red", 9, Status::fail_accuracy)});
  EXPECT_THAT(text, HasSubstr(",excluded,noisy_cases,detection_limits,median_detection_limit,worst_detection_limit,"
                              "weak_passes\n"));
  EXPECT_THAT(text, testing::EndsWith(",1,2,0.260000,0.500000,1\n"));
  EXPECT_THAT(write::write_summary_csv({limited("a", infinity)}), testing::EndsWith(",0,1,inf,inf,1\n"));
}

}  // namespace
}  // namespace torchstone
