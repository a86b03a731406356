#include "reports/record/noise.h"

#include <gmock/gmock.h>

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
