#include "reports/record/detection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/console/summary_text.h"
#include "reports/record/json.h"
#include "reports/record/row.h"
#include "reports/write/csv.h"
#include "reports/write/html/page.h"
#include "reports/write/junit.h"
#include "reports/write/markdown.h"
#include "reports/write/openmetrics.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::HasSubstr;
using testing::Not;

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
  EXPECT_FALSE(is_weak(limited("a", 0.5, Status::fail_accuracy))) << "what is red is not weak";
  EXPECT_EQ(detection_of({limited("a", infinity), limited("b", infinity)}).median, infinity);
  EXPECT_EQ(limit_text(infinity), "none");
  EXPECT_EQ(limit_text(0.00254), "0.25 %");
  EXPECT_EQ(limit_text(1.92), "192 %");
  EXPECT_EQ(limit_text(7.2e48), "7.2e+50 %") << "gradients without bound";
}

TEST(Detection, StandsInEveryReport) {
  const Report report{{}, {limited("strong", 0.004), limited("feeble", 0.8)}};
  EXPECT_THAT(numbers_line(report.results[1]), HasSubstr("weak: limit 80 %"));
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
  EXPECT_THAT(text, HasSubstr(",left_out,noisy_cases,detection_limits,median_detection_limit,worst_detection_limit,"
                              "weak_passes\n"));
  EXPECT_THAT(text, testing::EndsWith(",1,2,0.260000,0.500000,1\n"));
  EXPECT_THAT(write::write_summary_csv({limited("a", infinity)}), testing::EndsWith(",0,1,inf,inf,1\n"));
}

}  // namespace
}  // namespace torchstone
