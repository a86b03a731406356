#include "reports/suite_tables.h"

#include <gmock/gmock.h>

#include "reports/html/page.h"
#include "reports/markdown.h"
#include "reports/text.h"
#include "sample.h"

namespace torchstone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Result operation(const std::string& name, double calls, double speedup, const std::string& dtype = "float32") {
  Result result = simple_result(name + exact(calls) + dtype, Status::pass, "performance");
  result.suite = "operators";
  result.dtype = dtype;
  result.backend = "inductor";
  result.outcome.notes["operator"] = name;
  result.outcome.metrics = {{"speedup", speedup}, {"logged_calls", calls}};
  return result;
}

Result runner(const std::string& mode, const std::string& series) {
  Result result = simple_result("fastrnns/lstm_jit" + mode, Status::pass, "performance");
  result.suite = "fastrnns";
  result.model = "lstm_jit";
  result.backend = "eager";
  result.mode = mode;
  result.outcome.samples[series] = {0.001, 0.003};
  return result;
}

std::vector<Result> results() {
  Result failed = operation("aten.tanh.default", 1, 0);
  failed.outcome.status = Status::fail_accuracy;
  failed.outcome.metrics.erase("speedup");
  return {operation("aten.add.Tensor", 1, 0.5), operation("aten.add.Tensor", 9, 1.25),
          operation("aten.add.Tensor", 2, 3, "bfloat16"), failed, runner("inference", "eager_s")};
}

TEST(SuiteTables, OperatorsAreOneTableForEachDtypeWithCallsAsWeights) {
  const auto tables = suite_tables(results());
  ASSERT_THAT(tables, SizeIs(3));
  EXPECT_EQ(tables[0].title, "Operators of operators, bfloat16");
  EXPECT_EQ(tables[1].title, "Operators of operators, float32");
  EXPECT_THAT(tables[1].rows,
              ElementsAre(ElementsAre("aten.add.Tensor", "inductor", "2", "0", "10", "1.25x", "1.25x", "1.25x"),
                          ElementsAre("aten.tanh.default", "inductor", "0", "1", "0", "", "", "")));
}

TEST(SuiteTables, RunnersHaveBothDirectionsAndEmptyCellsForWhatWasNotTimed) {
  const auto tables = suite_tables({runner("inference", "eager_s")});
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_THAT(tables[0].rows, ElementsAre(ElementsAre("jit", "lstm", "2", "1.414", "", "")));
  EXPECT_THAT(suite_tables({runner("inference", "eager_s"), runner("training", "eager_backward_s")})[0].rows,
              ElementsAre(ElementsAre("jit", "lstm", "2", "1.414", "2", "1.414")));
}

TEST(SuiteTables, StandInThePageAndInMarkdown) {
  const Report report{sample_run(), results()};
  EXPECT_THAT(write_html(report), HasSubstr("<a href=#suites>Operators and LSTMs</a>"));
  EXPECT_THAT(write_html(report), HasSubstr("<tr><th scope=row>aten.add.Tensor<td>inductor<td class=n>2<td class=n>0"));
  EXPECT_THAT(write_markdown(report), HasSubstr("| Operator | Backend | Inputs | Failed | Calls | 20 % | Median | 80 % "
                                                "|\n| --- | --- | --: | --: | --: | --: | --: | --: |\n"));
  EXPECT_THAT(write_markdown(report), HasSubstr("| aten.add.Tensor | inductor | 2 | 0 | 10 | 1.25x |"));
  EXPECT_THAT(write_markdown(report), HasSubstr("| jit | lstm | 2 | 1.414 |"));
}

TEST(SuiteTables, AreAbsentFromReportsOfModels) {
  const Report report{sample_run(), sample_results()};
  EXPECT_THAT(suite_tables(report.results), IsEmpty());
  EXPECT_THAT(write_html(report), Not(HasSubstr("#suites")));
  EXPECT_THAT(write_markdown(report), Not(HasSubstr("weighed by its calls")));
}

}  // namespace
}  // namespace torchstone
