#include <gmock/gmock.h>

#include "reports/record/tables/upstream_suites.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::tables {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

Result timed(const std::string& operation, int index, std::optional<double> speedup,
             const std::string& backend = "inductor") {
  Result result = simple_result("operators/" + operation + std::to_string(index) + backend,
                                speedup ? Status::pass : Status::fail_to_compile, "performance");
  result.suite = "operators";
  result.dtype = "float32";
  result.backend = backend;
  result.outcome.operator_name = operation;
  if (speedup) result.outcome.metrics["speedup"] = *speedup;
  return result;
}

std::vector<Result> two_operators() {
  std::vector<Result> results;
  for (int i = 0; i <= 10; ++i) results.push_back(timed("aten.add.Tensor", i, 1.0 + 0.1 * i));
  results.push_back(timed("aten.relu.default", 0, 2.0));
  results.push_back(timed("aten.relu.default", 1, std::nullopt));
  return results;
}

TEST(Operatorbench, QuantilesAreOverTheInputsOfAnOperator) {
  const auto entries = operator_speedups(two_operators());
  ASSERT_THAT(entries, SizeIs(2));
  EXPECT_EQ(entries[0].name, "aten.add.Tensor");
  EXPECT_EQ(entries[0].inputs, 11U);
  EXPECT_NEAR(entries[0].over_inputs.low, 1.2, 1e-12);
  EXPECT_NEAR(entries[0].over_inputs.median, 1.5, 1e-12);
  EXPECT_NEAR(entries[0].over_inputs.high, 1.8, 1e-12);
  EXPECT_EQ(entries[1].inputs, 1U);
  EXPECT_EQ(entries[1].failed, 1U);
}

TEST(Operatorbench, AnInputThatWasCalledMoreOftenWeighsMore) {
  auto results = two_operators();
  for (auto& result : results) result.outcome.metrics["logged_calls"] = 1;
  results[10].outcome.metrics["logged_calls"] = 90;  // 2.0x; ten others were called once
  const auto entry = operator_speedups(results)[0];
  EXPECT_EQ(entry.calls, 100);
  EXPECT_NEAR(entry.over_inputs.median, 1.5, 1e-12);
  EXPECT_EQ(entry.over_calls.low, 2.0);
  EXPECT_EQ(entry.over_calls.median, 2.0);
}

TEST(Operatorbench, TheTableHasUpstreamsNameColumnsAndDecimals) {
  const auto files = write_operatorbench_csvs(two_operators());
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_EQ(files[0].first, "operatorbench_operators_float32.csv");
  EXPECT_EQ(files[0].second,
            "Operator,inductor 20th,inductor 50th,inductor 80th\n"
            "aten.add.Tensor,1.200000,1.500000,1.800000\n"
            "aten.relu.default,2.000000,2.000000,2.000000\n");
}

TEST(Operatorbench, ASecondBackendGetsColumnsAndMissingNumbersStayEmpty) {
  auto results = two_operators();
  results.push_back(timed("aten.relu.default", 0, 0.5, "torchscript"));
  EXPECT_THAT(write_operatorbench_csvs(results)[0].second,
              HasSubstr("aten.add.Tensor,1.200000,1.500000,1.800000,,,\n"));
}

TEST(Operatorbench, AnOperatorWithoutAMeasuredInputIsSaidSo) {
  const std::vector<Result> results{timed("aten.relu.default", 0, std::nullopt)};
  EXPECT_THAT(operatorbench_lines(results), Contains("  aten.relu.default: inductor not measured, 1 failed"));
  EXPECT_THAT(write_operatorbench_csvs(results)[0].second, HasSubstr("aten.relu.default,,,\n"));
}

TEST(Operatorbench, TheLineIsUpstreams) {
  EXPECT_THAT(operatorbench_lines(two_operators()), Contains("  aten.add.Tensor: inductor=1.50x (1.20-1.80)"));
}

TEST(Operatorbench, OfSeveralResultsOfANameTheLastCounts) {
  const auto entries = operator_speedups({timed("aten.add.Tensor", 0, 1.0), timed("aten.add.Tensor", 0, 3.0)});
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_EQ(entries[0].inputs, 1U);
  EXPECT_EQ(entries[0].over_inputs.median, 3.0);
}

TEST(Operatorbench, ResultsOfModelsMakeNoTable) {
  EXPECT_THAT(write_operatorbench_csvs(sample_results()), SizeIs(0));
  EXPECT_THAT(operatorbench_lines(sample_results()), SizeIs(0));
}

}  // namespace
}  // namespace torchstone::tables
