#include "reports/record/noise.h"

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/console/summary_text.h"
#include "reports/record/row.h"
#include "reports/record/run_verdict.h"
#include "reports/record/summary.h"
#include "reports/tables/speedup_table.h"
#include "reports/write/csv.h"
#include "reports/write/html/page.h"
#include "reports/write/markdown.h"
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
  Result noted = timed(1, 0.99, 1.01);
  noted.outcome.notes["noisy"] = "two processes differ by 12 %";
  EXPECT_EQ(noisy_reason(noted), "two processes differ by 12 %");
  Result unmeasured = simple_result("a", Status::crash, "performance");
  EXPECT_EQ(noisy_reason(unmeasured), "");
  Result old = timed(1, 0, 0);
  old.outcome.metrics.erase("speedup_low");
  EXPECT_EQ(noisy_reason(old), "");
}

TEST(Noise, AUselessIntervalNeverLooksLikeAResultOnTheConsole) {
  const std::string row = console_row(timed(1.02, 0, infinity), /*color=*/false);
  EXPECT_THAT(row, AllOf(HasSubstr("[ NOISY  ] ~ "), HasSubstr("1.02x (noisy)"),
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
  apart.outcome.notes["noisy"] = "the threads lay apart";
  apart.outcome.reason = "not decided; the threads lay apart";
  EXPECT_THAT(console_row(apart, false), AllOf(EndsWith("the threads lay apart"), Not(HasSubstr("\n"))));
}

TEST(Noise, DoubtsOfATimedRowStandBelowItOnTheConsole) {
  Result doubted = timed(1.02, 0.99, 1.05);
  doubted.outcome.notes["doubts"] = "7 % of the cores were used by other processes while it was measured.";
  EXPECT_THAT(
      console_row(doubted, false),
      AllOf(HasSubstr("[  PASS  ]"), EndsWith("1.02x [0.99 1.05]\n             doubts: "
                                              "7 % of the cores were used by other processes while it was measured.")));
  doubted.outcome.notes["noisy"] = "The threads lay apart.";
  doubted.outcome.notes["doubts"] = "The clock fell. The threads lay apart. Process 2: the clock fell.";
  EXPECT_EQ(other_doubts(doubted), "The clock fell. Process 2: the clock fell.");
  EXPECT_THAT(console_row(doubted, false),
              AllOf(HasSubstr("noisy: The threads lay apart.\n             doubts: The clock"),
                    Not(HasSubstr("fell. The threads"))));
  doubted.outcome.notes["doubts"] = "The threads lay apart.";
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
  std::vector<Result> results = {timed(1.02, 0, infinity, "S/Performance.A/wide"), timed(2, 1.9, 2.1)};
  for (auto& result : results) result.backend = "inductor", result.model = result.name;
  results[1].dtype = "bfloat16";
  const Report report{sample_run(), results};
  EXPECT_EQ(geomean_of(results).noisy, 1u);
  EXPECT_THAT(
      console::write_summary(results, sample_run(), {}, 200),
      AllOf(HasSubstr("2 pass, 1 noisy"), HasSubstr("over 2 mini models, 1 of them noisy"), Not(HasSubstr("inf]"))));
  EXPECT_THAT(write::write_markdown(report),
              AllOf(HasSubstr("#### 1 noisy"), HasSubstr("1.020x noisy&#58; its interval has no bound"),
                    HasSubstr("1 of them noisy"), Not(HasSubstr("inf]"))));
  EXPECT_THAT(
      write::write_html(report),
      AllOf(HasSubstr("As expected, but 1 of 2 cases noisy"), HasSubstr("pass, noisy</i>"),
            HasSubstr("noisy: its interval has no bound"), HasSubstr("1 of them noisy"), Not(HasSubstr("–inf"))));
  const auto table = tables::speedup_table(results);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.at(0).at(2) + table->rows.at(0).at(3) + table->rows.at(1).at(2) + table->rows.at(1).at(3),
            "2.00x1.02x noisy");
  EXPECT_EQ(exit_code_of(results, false), 0);
}

TEST(Noise, LeavesNumbersInCsv) {
  const std::string csv = write::write_wide_csv({timed(1.02, 0.5, 2)});
  EXPECT_THAT(csv, AllOf(HasSubstr(",1.02,0.5,2,"), HasSubstr("noisy: its interval is ±74 % wide")));
}

}  // namespace
}  // namespace torchstone
