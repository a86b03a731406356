#include "reports/tables/dynamic_table.h"

#include <gmock/gmock.h>

#include "reports/tables/fastrnns.h"
#include "reports/tables/speedup_table.h"
#include "reports/tables/suite_tables.h"
#include "reports/tables/upstream_csv.h"
#include "reports/write/html/figures.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::tables {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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
  EXPECT_EQ(table->rows[2].back(), "1.250x noisy") << "too few rounds for an interval";
  EXPECT_THAT(table->rows[6], ElementsAre("", "geometric mean, at the sizes compiled for", "", "", "", "",
                                          "2.000x of 2", "", "1.100x of 2"));
  EXPECT_EQ(table->rows[7].back(), "1.500x of 2");
  for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->header.size());
}

TEST(DynamicTable, MarksNoisySpeedUpsAndCountsThemInTheMean) {
  Result wide = timed("wide", 1), apart = timed("apart", 1);
  wide.outcome.samples["dynamic_speedup_high"] = {2.1, 5, 1.7};
  apart.outcome.notes["noisy"] = "the threads lay apart";
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
  all.outcome.notes["dynamic_timed"] = "batch 2 and length 4; batch 4 and length 32; batch 64 and length 64";
  const auto table = dynamic_table({all});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows[0][2], "batch 2 and length 4");
  EXPECT_EQ(table->rows[2][2], "batch 64 and length 64");
  EXPECT_THAT(html::dynamic_figure(all), HasSubstr("Speed-up by batch, at the sizes of the table"));
  all.outcome.notes["dynamic_timed"] = "batch 2; batch 4";
  EXPECT_EQ(dynamic_table({all})->rows[0][2], "2") << "a list of another length says nothing";
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
  EXPECT_THAT(page, HasSubstr("inference, dynamic batch")) << "a row of its own in what was covered";
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
