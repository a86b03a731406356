#include "reports/record/tables/suite_tables.h"

#include <map>
#include <string>

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/record/tables/upstream_suites.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "reports/write/html/view.h"
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
  result.outcome.operator_name = name;
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
  ASSERT_THAT(tables, SizeIs(2)) << "the second table has what PyTorch's dashboard flags";
  EXPECT_EQ(tables[0].explanation, "Eager's time over the compiled one's: inductor cuda full");
  EXPECT_THAT(tables[0].header, ElementsAre("Suite", "Model", "inference float32", "training bfloat16"));
  EXPECT_THAT(tables[0].rows,
              ElementsAre(ElementsAre("timm", "gmlp", "", "12.00x"), ElementsAre("timm", "swin", "2.00x", "3.00x"),
                          ElementsAre("timm", "vit", "0.50x", "fail_accuracy"),
                          ElementsAre("", "geometric mean", "1.00x of 2", "6.00x of 2")));
}

TEST(SuiteTables, FlagWhatPyTorchsDashboardFlags) {
  Result at_the_limits = timing_in("gmlp", "inference", "float32", 0.95),
         beyond = timing_in("vit", "inference", "float32", 0.94);
  at_the_limits.outcome.metrics.merge(std::map<std::string, double>{{"compile_s", 120}, {"compression_ratio", 0.9}});
  beyond.outcome.metrics.merge(std::map<std::string, double>{{"compile_s", 120.5}, {"compression_ratio", 0.89}});
  beyond.outcome.why_noisy = "the threads moved";
  Result unmeasured = timing_in("swin", "inference", "float32", 0),
         accuracy = timing_in("swin", "inference", "float32", 0.1);
  unmeasured.outcome.metrics["compression_ratio"] = 0;
  accuracy.check = "accuracy", accuracy.name += "_accuracy";
  EXPECT_FALSE(dashboard_marks({at_the_limits, unmeasured, accuracy}));
  const auto table = dashboard_marks({at_the_limits, beyond});
  ASSERT_TRUE(table);
  const std::string run = "inference float32 inductor cuda full";
  EXPECT_THAT(table->rows,
              ElementsAre(ElementsAre("vit", run, "speed-up", "below 0.95x", "0.940x noisy"),
                          ElementsAre("vit", run, "compile", "above 120 s", "120.5 s"),
                          ElementsAre("vit", run, "memory with weights, eager / compiled", "below 0.9x", "0.890x")));
  EXPECT_THAT(write::write_markdown({sample_run(), {beyond}}),
              HasSubstr("#### Flagged by the thresholds of PyTorch's dashboard"));
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
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_EQ(tables[0].title, "Speed-up by model");
  EXPECT_EQ(tables[1].title, "Flagged by the thresholds of PyTorch's dashboard");
  EXPECT_THAT(write::write_markdown(report), Not(HasSubstr("weighed by its calls")));
}

Result timed(const std::string& model, double cost) {
  Result r = simple_result("torchbench/Performance.CompiledAgainstEager/" + model + "_dynamic_batch", Status::pass,
                           "performance");
  r.model = model;
  r.suite = "torchbench";
  r.mode = "inference", r.dtype = "float32", r.backend = "inductor", r.device = "cpu", r.preset = "mini";
  r.dynamic = "batch";
  r.outcome.metrics = {{"speedup", 2},    {"dynamic_cost", cost},   {"dynamic_cost_low", cost - 0.01},
                       {"compile_s", 30}, {"static_compile_s", 20}, {"dynamic_cost_high", cost + 0.01}};
  r.outcome.samples = {{"dynamic_batch", {2, 4, 64}},
                       {"dynamic_eager_ms", {1, 2, 32}},
                       {"dynamic_ms", {0.5, 1, 20}},
                       {"static_ms", {0.5, 0.9, 16}},
                       {"dynamic_speedup", {2, 2, 1.6}},
                       {"dynamic_speedup_low", {1.9, 1.9, 1.5}},
                       {"dynamic_speedup_high", {2.1, 2.1, 1.7}},
                       {"dynamic_cost", {1, cost, 1.25}},
                       {"dynamic_cost_low", {0.99, cost - 0.01, 0}},
                       {"dynamic_cost_high", {1.01, cost + 0.01, infinity}}};
  return r;
}

TEST(DynamicTable, HasARowForEachBatchAndTheGeometricMeansLast) {
  const auto table = dynamic_table({timed("alexnet", 1.21), timed("resnet18", 1.0)});
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 8U);
  EXPECT_THAT(table->rows[1], ElementsAre("alexnet", "inference float32 inductor cpu mini", "4", "2 ms", "1 ms",
                                          "0.9 ms", "2.000x [1.900 2.100]", "2.420x", "1.210x [1.200 1.220]"));
  EXPECT_EQ(table->rows[2].back(), "unknown") << "too few rounds for an interval";
  EXPECT_THAT(table->rows[6], ElementsAre("", "geometric mean, at the sizes compiled for", "", "", "", "",
                                          "2.000x of 2", "", "1.100x of 2"));
  EXPECT_EQ(table->rows[7].back(), "1.500x of 2");
  for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->header.size());
}

TEST(DynamicTable, KeepsPythonModulesOutOfTheMeans) {
  Result python = timed("net", 3.0);
  python.outcome.notes["subject"] = "python";
  const auto both = dynamic_table({timed("alexnet", 1.21), python});
  ASSERT_TRUE(both);
  ASSERT_EQ(both->rows.size(), 8U);
  EXPECT_EQ(both->rows[6].back(), "1.210x of 1");
  EXPECT_EQ(dynamic_table({python})->rows.size(), 3U) << "without native models there are no means";
}

TEST(DynamicTable, MarksNoisySpeedUpsAndCountsThemInTheMean) {
  Result wide = timed("wide", 1), apart = timed("apart", 1);
  wide.outcome.samples["dynamic_speedup_high"] = {2.1, 5, 1.7};
  apart.outcome.why_noisy = "the threads ran in different cache domains";
  const auto table = dynamic_table({wide, apart});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0][6], "2.000x [1.900 2.100]");
  EXPECT_EQ(table->rows[1][6], "2.000x [1.900 5.000] noisy");
  for (const size_t row : {3U, 4U, 5U}) EXPECT_THAT(table->rows[row][6], testing::EndsWith("] noisy"));
  EXPECT_EQ(table->rows[6][6], "2.000x of 2, 1 noisy");
}

TEST(DynamicTable, NamesTheSizesWhereFurtherDimensionsVary) {
  Result all = timed("bert", 1.1);
  all.dynamic = "all";
  all.outcome.timed_sizes = {"batch 2 and length 4", "batch 4 and length 32", "batch 64 and length 64"};
  const auto table = dynamic_table({all});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0][2], "batch 2 and length 4");
  EXPECT_EQ(table->rows[2][2], "batch 64 and length 64");
  EXPECT_THAT(html::dynamic_figure(all), HasSubstr("Speed-up by batch, at the sizes of the table"));
  all.outcome.timed_sizes = {"batch 2", "batch 4"};
  EXPECT_EQ(dynamic_table({all})->rows[0][2], "2") << "a list of another length is ignored";
}

TEST(DynamicTable, IsNotThereWithoutDynamicCasesOrWithHalfOfTheirSeries) {
  Result fixed = timed("alexnet", 1.1);
  fixed.dynamic = "off";
  EXPECT_FALSE(dynamic_table({fixed}));
  Result half = timed("alexnet", 1.1);
  half.outcome.samples["static_ms"].pop_back();
  EXPECT_FALSE(dynamic_table({half}));
  EXPECT_EQ(html::dynamic_figure(half), "");
}

TEST(DynamicFigure, DrawsBothSpeedupsByBatch) {
  const std::string figure = html::dynamic_figure(timed("alexnet", 1.21));
  EXPECT_THAT(figure, HasSubstr("<figcaption>Speed-up by batch"));
  for (const char* batch : {">2<", ">64<"}) EXPECT_THAT(figure, HasSubstr(batch));
  EXPECT_THAT(figure, Not(HasSubstr("nan")));
  EXPECT_THAT(figure, Not(HasSubstr("inf")));
}

TEST(DynamicFigure, IsOnThePageWithItsTable) {
  Result fixed = timed("alexnet", 1.21);
  fixed.name += "_not";
  fixed.dynamic = "off";
  fixed.outcome.samples.clear();
  const std::string page = write::write_html({sample_run(), {timed("alexnet", 1.21), fixed}});
  EXPECT_THAT(page, HasSubstr("Speed-up by batch"));
  EXPECT_THAT(page, HasSubstr("Cost of being dynamic"));
  EXPECT_THAT(page, HasSubstr("<th scope=col data-k=dynamic>Dynamic"));
  EXPECT_THAT(page, HasSubstr("inference, dynamic batch")) << "a separate row in the table of coverage";
}

TEST(SpeedupTable, HasAColumnOfItsOwnForDynamicSizes) {
  Result fixed = timed("alexnet", 1.21);
  fixed.name += "_not";
  fixed.dynamic = "off";
  const auto table = speedup_table({timed("alexnet", 1.21), fixed});
  ASSERT_TRUE(table);
  EXPECT_THAT(table->header, ElementsAre("Suite", "Model", "dynamic batch", "static"));
}

TEST(TheTableOfFastrnns, IsOfFixedSizes) {
  Result runner = timed("lstm_jit", 1.21);
  runner.suite = "fastrnns";
  runner.mode = "training";
  runner.outcome.samples["eager_forward_s"] = {0.001, 0.003};
  runner.backend = "eager";
  EXPECT_THAT(runner_times({runner}), IsEmpty());
  runner.dynamic = "off";
  EXPECT_THAT(runner_times({runner}), Not(IsEmpty()));
}

TEST(UpstreamsTables, OfDynamicSizesAreFilesOfTheirOwn) {
  Result fixed = timed("alexnet", 1.21);
  fixed.name += "_not";
  fixed.dynamic = "off";
  const auto files = write_upstream_csvs({timed("alexnet", 1.21), fixed}, "");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].first, "inductor_dynamic_torchbench_float32_inference_cpu_performance.csv");
  EXPECT_EQ(files[1].first, "inductor_torchbench_float32_inference_cpu_performance.csv");
}

}  // namespace
}  // namespace torchstone::tables
