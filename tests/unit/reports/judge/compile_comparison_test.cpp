// Comparison of the check compile_time between two runs.

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "reports/judge/baseline.h"
#include "reports/judge/baseline_report.h"
#include "reports/statistics/statistics.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

using testing::HasSubstr;

/// Returns a case with six compiles, whose metrics vary by about 1 % around these values.
Result measured(const std::map<std::string, double>& values) {
  Result result = simple_result("suite/CompileTime.IsMeasured/model", Status::pass, "compile_time");
  for (const auto& [metric, value] : values) {
    for (const double noise : {0.99, 1.0, 1.01, 0.995, 1.005, 1.002})
      result.outcome.samples[metric].push_back(value * noise);
    result.outcome.metrics[metric] = statistics::median(result.outcome.samples[metric]);
  }
  return result;
}

CaseChange change_between(const Result& before, const Result& after) {
  return compare_with_baseline({{}, {before}}, {{}, {after}}).cases.at(0);
}

TEST(CompileComparison, OfUnchangedCodeIsSame) {
  const Result one = measured({{"cold_compile_cpu_s", 20}, {"warm_compile_cpu_s", 4}, {"cold_compile_s", 12}});
  EXPECT_EQ(change_between(one, one).change, Change::same);
}

TEST(CompileComparison, IsDecidedByTheCpuTime) {
  const auto slower = change_between(measured({{"cold_compile_cpu_s", 20}}), measured({{"cold_compile_cpu_s", 22}}));
  EXPECT_EQ(slower.change, Change::slower);
  EXPECT_THAT(red_words(slower, default_fail_on()), HasSubstr("compile with empty caches, CPU time 20.02 s → 22.02 s"));
  EXPECT_EQ(change_between(measured({{"warm_compile_cpu_s", 4}}), measured({{"warm_compile_cpu_s", 3}})).change,
            Change::faster);
}

// On a shared machine, other programs make the same compile last longer.
TEST(CompileComparison, ShowsADurationThatDoesNotDecide) {
  const auto change = change_between(measured({{"cold_compile_cpu_s", 20}, {"cold_compile_s", 12}}),
                                     measured({{"cold_compile_cpu_s", 20}, {"cold_compile_s", 24}}));
  EXPECT_EQ(change.change, Change::same);
  ASSERT_EQ(change.metrics.size(), 2u);
  EXPECT_EQ(change.metrics[0].metric, "cold_compile_s");
  EXPECT_EQ(change.metrics[0].change, Change::slower);
  EXPECT_FALSE(fails(change, default_fail_on()));
  BaselineComparison comparison;
  comparison.cases = {change};
  EXPECT_THAT(write_comparison(comparison, /*all=*/true),
              testing::ContainsRegex("\n      cold_compile_s .*SLOWER.* \\(does not decide\\)\n"));
}

TEST(CompileComparison, OfMemoryIsMoreAndNeverRedByItself) {
  const auto change = change_between(measured({{"cold_compile_peak_bytes", 1e9}, {"cold_compile_cpu_s", 20}}),
                                     measured({{"cold_compile_peak_bytes", 2e9}, {"cold_compile_cpu_s", 20}}));
  EXPECT_EQ(change.change, Change::more);
  EXPECT_FALSE(fails(change, default_fail_on()));
  EXPECT_TRUE(fails(change, {Change::more}));
}

// In a case that varies by 1 %, chance gives a loss of 3.5 % with a probability of 4e-6. Three of them are not
// significant among forty cases.
TEST(CompileComparison, HoldsTheErrorOverAllCases) {
  std::vector<Result> before, after;
  for (int i = 0; i < 40; ++i) {
    before.push_back(measured({{"cold_compile_cpu_s", 20}}));
    before.back().name += std::to_string(i);
    after.push_back(measured({{"cold_compile_cpu_s", i < 3 ? 20.7 : 20}}));
    after.back().name = before.back().name;
  }
  const auto alone = compare_with_baseline({{}, {before[0]}}, {{}, {after[0]}}, {.family_error = 1e-5});
  EXPECT_EQ(alone.cases.at(0).change, Change::slower);
  const auto all = compare_with_baseline({{}, before}, {{}, after}, {.family_error = 1e-5});
  for (const auto& change : all.cases) EXPECT_NE(change.change, Change::slower) << change.name;
}

}  // namespace
}  // namespace torchstone::judge
