#include "reports/tables/suite_tables.h"

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/write/html/page.h"
#include "reports/write/markdown.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::tables {
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

std::vector<Result> two_suites() {
  Result failed = operation("aten.tanh.default", 1, 0);
  failed.outcome.status = Status::fail_accuracy;
  failed.outcome.metrics.erase("speedup");
  return {operation("aten.add.Tensor", 1, 0.5), operation("aten.add.Tensor", 9, 1.25),
          operation("aten.add.Tensor", 2, 3, "bfloat16"), failed, runner("training", "eager_forward_s")};
}

TEST(SuiteTables, OperatorsAreOneTableForEachDtypeWithCallsAsWeights) {
  const auto tables = suite_tables(two_suites());
  ASSERT_THAT(tables, SizeIs(3));
  EXPECT_EQ(tables[0].title, "Operators of operators, bfloat16");
  EXPECT_EQ(tables[1].title, "Operators of operators, float32");
  EXPECT_THAT(tables[1].rows,
              ElementsAre(ElementsAre("aten.add.Tensor", "inductor", "2", "0", "10", "1.25x", "1.25x", "1.25x"),
                          ElementsAre("aten.tanh.default", "inductor", "0", "1", "0", "", "", "")));
}

TEST(SuiteTables, RunnersHaveBothDirectionsAndEmptyCellsForWhatWasNotTimed) {
  const auto tables = suite_tables({runner("training", "eager_forward_s")});
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_THAT(tables[0].rows, ElementsAre(ElementsAre("jit", "lstm", "2", "1.414", "", "")));
  EXPECT_THAT(suite_tables({runner("training", "eager_forward_s"), runner("training", "eager_backward_s")})[0].rows,
              ElementsAre(ElementsAre("jit", "lstm", "2", "1.414", "2", "1.414")));
}

Result timing_in(const std::string& model, const std::string& mode, const std::string& dtype, double speedup) {
  Result result = simple_result(model + mode + dtype, Status::pass, "performance");
  result.suite = "timm";
  result.model = model;
  result.mode = mode;
  result.dtype = dtype;
  result.backend = "inductor";
  result.device = "cuda";
  result.preset = "full";
  result.outcome.metrics = {{"speedup", speedup}};
  return result;
}

TEST(SuiteTables, SpeedUpsHaveARowAModelAndAColumnForWhatDiffers) {
  Result wrong = timing_in("vit", "training", "bfloat16", 0);
  wrong.outcome.status = Status::fail_accuracy;
  wrong.outcome.metrics.clear();
  Result slow = timing_in("vit", "inference", "float32", 0.5);
  slow.outcome.status = Status::fail_speedup;
  Result accuracy = timing_in("swin", "inference", "float16", 1);
  accuracy.check = "accuracy";
  const auto tables =
      suite_tables({timing_in("swin", "inference", "float32", 2), timing_in("swin", "training", "bfloat16", 3), slow,
                    wrong, timing_in("gmlp", "training", "bfloat16", 12), accuracy});
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].explanation, "Eager's time over the compiled one's: inductor cuda full");
  EXPECT_THAT(tables[0].header, ElementsAre("Suite", "Model", "inference float32", "training bfloat16"));
  EXPECT_THAT(tables[0].rows,
              ElementsAre(ElementsAre("timm", "gmlp", "", "12.00x"), ElementsAre("timm", "swin", "2.00x", "3.00x"),
                          ElementsAre("timm", "vit", "0.50x", "fail_accuracy"),
                          ElementsAre("", "geometric mean", "1.00x of 2", "6.00x of 2")));
}

TEST(SuiteTables, AWrongAnswersSpeedUpIsInNoMean) {
  Result wrong = timing_in("vit", "inference", "float32", 8);
  wrong.check = "accuracy";
  wrong.outcome.status = Status::fail_accuracy;
  wrong.outcome.metrics.clear();
  const auto tables =
      suite_tables({timing_in("swin", "inference", "float32", 2), timing_in("vit", "inference", "float32", 8), wrong,
                    timing_in("swin", "training", "float32", 3)});
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_THAT(tables[0].rows.back(), ElementsAre("", "geometric mean", "2.00x of 1", "3.00x of 1"));
}

TEST(SuiteTables, SpeedUpsOfOneColumnStandWithTheirCasesAlone) {
  EXPECT_THAT(suite_tables({timing_in("swin", "inference", "float32", 2), timing_in("vit", "inference", "float32", 3)}),
              IsEmpty());
}

TEST(SuiteTables, StandInThePageAndInMarkdown) {
  const Report report{sample_run(), two_suites()};
  EXPECT_THAT(write::write_html(report), HasSubstr("<a href=#suites>Models, operators, LSTMs</a>"));
  EXPECT_THAT(write::write_html(report),
              HasSubstr("<tr><th scope=row>aten.add.Tensor<td>inductor<td class=n>2<td class=n>0"));
  EXPECT_THAT(write::write_markdown(report),
              HasSubstr("| Operator | Backend | Inputs | Failed | Calls | 20 % | Median | 80 % "
                        "|\n| --- | --- | --: | --: | --: | --: | --: | --: |\n"));
  EXPECT_THAT(write::write_markdown(report), HasSubstr("| aten.add.Tensor | inductor | 2 | 0 | 10 | 1.25x |"));
  EXPECT_THAT(write::write_markdown(report), HasSubstr("| jit | lstm | 2 | 1.414 |"));
}

TEST(SuiteTables, AreAbsentFromReportsOfAccuracy) {
  const Report report{sample_run(), {simple_result("right", Status::pass)}};
  EXPECT_THAT(suite_tables(report.results), IsEmpty());
  EXPECT_THAT(write::write_html(report), Not(HasSubstr("#suites")));
  EXPECT_THAT(write::write_markdown(report), Not(HasSubstr("Speed-up by model")));
}

TEST(SuiteTables, OfOperatorsAndRunnersAreAbsentFromReportsOfModels) {
  const Report report{sample_run(), sample_results()};
  const auto tables = suite_tables(report.results);
  ASSERT_THAT(tables, SizeIs(1));
  EXPECT_EQ(tables[0].title, "Speed-up by model");
  EXPECT_THAT(write::write_markdown(report), Not(HasSubstr("weighed by its calls")));
}

}  // namespace
}  // namespace torchstone::tables
