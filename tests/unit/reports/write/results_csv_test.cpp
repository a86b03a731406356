#include <algorithm>
#include <limits>
#include <map>

#include <gmock/gmock.h>

#include "reports/base/csv_format.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/write/formats.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

TEST(CsvCell, QuotesAsRfc4180Has) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_line({"a", "", "c,"}), "a,,\"c,\"\n");
}

std::map<std::string, std::string> upstream_of(const std::vector<Result>& results) {
  const auto files = tables::write_upstream_csvs(results);
  return {files.begin(), files.end()};
}

TEST(BatchSizes, AreTheSmallestFoundOfEachModel) {
  Result large = simple_result("a", Status::pass), small = large, other = simple_result("b", Status::pass);
  large.outcome.metrics["largest_batch"] = 512;
  small.outcome.metrics["largest_batch"] = 64;
  other.outcome.metrics["largest_batch"] = 1;
  EXPECT_EQ(write_batch_sizes({large, other, small, simple_result("c", Status::fail_accuracy)}), "a,64\nb,1\n");
  EXPECT_EQ(write_batch_sizes({simple_result("c", Status::pass)}), "");
}

TEST(UpstreamCsv, IsNamedAsItsContinuousIntegrationDoes) {
  Result r = simple_result("a", Status::pass);
  r.dtype = "bfloat16";
  r.device = "cuda:1";
  EXPECT_EQ(upstream_of({r}).begin()->first, "inductor_torchbench_bfloat16_inference_cuda_accuracy.csv");
  r.backend = "inductor:freezing=true,mode=max-autotune";
  EXPECT_EQ(upstream_of({r}).begin()->first,
            "inductor_freezing_mode_max_autotune_torchbench_bfloat16_inference_cuda_accuracy.csv");
}

TEST(UpstreamCsv, HasUpstreamsColumnsUnitsAndFormats) {
  Result r = simple_result("a", Status::pass, "performance");
  r.outcome.metrics = {{"speedup", 1.5},           {"compiled_ms", 2.25},        {"compile_s", 10},
                       {"compression_ratio", 1.1}, {"eager_peak_mem", 1.5e9},    {"dynamo_peak_mem", 1e9},
                       {"eager_peak_bytes", 7e9},  {"compiled_peak_bytes", 7e9}, {"peak_ratio", 7},
                       {"calls_captured", 69},     {"graph_breaks", 0},          {"speedup_low", 1.4}};
  EXPECT_EQ(
      upstream_of({r}).begin()->second,
      "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,eager_peak_mem,dynamo_peak_mem,"
      "calls_captured,unique_graphs,fallbacks_to_eager,graph_breaks,unique_graph_breaks,autograd_captures,"
      "autograd_compiles,cudagraph_skips\n"
      "cpu,a,4,1.500000,2.250000,10.000000,1.100000,1.500000,1.000000,69,,,0,,,,\n");
}

TEST(UpstreamCsv, HasNoNumberThatWasNotCounted) {
  EXPECT_THAT(upstream_of({simple_result("a", Status::pass)}).begin()->second,
              testing::EndsWith("\ncpu,a,4,pass,,,,,,,,,\n"));
  EXPECT_THAT(upstream_of({simple_result("a", Status::crash)}).begin()->second,
              testing::EndsWith("\ncpu,a,4,crash,0,0,0,0,0,0,0,0,0\n"))
      << "upstream pads the row of what did not run";
}

TEST(UpstreamCsv, HasTheTagBehindTheBatchSizeWhenThereIsOne) {
  const auto files = tables::write_upstream_csvs(
      {simple_result("a", Status::pass), simple_result("a_performance", Status::pass, "performance")}, "night,ly");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_THAT(files[0].second, testing::StartsWith("dev,name,batch_size,tag,accuracy,"));
  EXPECT_THAT(files[0].second, testing::HasSubstr("\ncpu,a,4,\"night,ly\",pass,"));
  EXPECT_THAT(files[1].second, testing::StartsWith("dev,name,batch_size,tag,speedup,"));
}

TEST(UpstreamCsv, AFailedTimingIsARowOfZerosAndASkipIsNone) {
  const auto files = upstream_of({simple_result("bad", Status::crash, "performance"),
                                  simple_result("skipped", Status::unsupported, "performance")});
  const std::string& text = files.begin()->second;
  EXPECT_THAT(text, testing::HasSubstr("\ncpu,bad,4,0,0,0,"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("skipped")));
}

TEST(UpstreamCsv, AModelThatDidNotLoadHasNoBatchSize) {
  const auto text = upstream_of({simple_result("a", Status::model_fail_to_load)}).begin()->second;
  EXPECT_THAT(text, testing::HasSubstr("\ncpu,a,0,model_fail_to_load,0,"));
}

TEST(UpstreamCsv, OfARepeatedNameTheOneThatIsNotAsExpectedCounts) {
  const auto text = upstream_of({simple_result("a", Status::crash), simple_result("b", Status::pass),
                                 simple_result("a", Status::pass)})
                        .begin()
                        ->second;
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_THAT(text, testing::HasSubstr("cpu,a,4,crash,"));
}

TEST(UpstreamCsv, TwoPresetsOfAModelGetTwoFiles) {
  Result mini = simple_result("mini", Status::pass), full = simple_result("full", Status::pass);
  full.preset = "full";
  const auto files = upstream_of({mini, full});
  EXPECT_EQ(files.size(), 2u);
  EXPECT_TRUE(files.contains("inductor_torchbench_float32_inference_cpu_mini_accuracy.csv"));
  EXPECT_TRUE(files.contains("inductor_torchbench_float32_inference_cpu_full_accuracy.csv"));
}

TEST(WideCsv, WritesNumbersThatOtherProgramsRead) {
  Result r = simple_result("a", Status::pass);
  r.outcome.metrics = {{"speedup", std::numeric_limits<double>::quiet_NaN()},
                       {"speedup_low", -std::numeric_limits<double>::infinity()},
                       {"speedup_high", 0.1}};
  EXPECT_THAT(write_wide_csv({r}), testing::HasSubstr(",nan,-inf,0.1,,"));
}

TEST(SummaryCsv, HasARowForEachMachine) {
  std::vector<Result> results;
  for (const auto& [machine, speedup] : {std::pair{"A", 2.0}, {"A", 8.0}, {"B", 3.0}}) {
    Result& r = results.emplace_back(simple_result("P" + std::to_string(results.size()), Status::pass, "performance"));
    r.model = r.name;
    r.machine = machine;
    r.outcome.metrics["speedup"] = speedup;
  }
  // A wrong answer on one machine excludes the timing on another.
  Result wrong = simple_result("A0", Status::fail_accuracy);
  wrong.model = "P0";
  wrong.machine = "B";
  results.push_back(wrong);
  const std::string text = write_summary_csv(results);
  EXPECT_THAT(text, testing::HasSubstr(",off,A,0,,1,8.000000,"));
  EXPECT_THAT(text, testing::HasSubstr(",off,B,1,0.000000,1,3.000000,"));
}

TEST(WideCsv, HasNoZeroForWhatIsNotKnown) {
  Result r = simple_result("a", Status::pass);
  r.file = "/models/my.pt2";
  r.line = 0;
  r.duration_s = 0;
  r.batch_size = 0;
  const std::string csv = write_wide_csv({r});
  EXPECT_THAT(csv, testing::HasSubstr(",pass,,,pass,true,true,,,,"));  // expected, machine, batch_size, …, duration_s
  EXPECT_THAT(csv, testing::EndsWith(",/models/my.pt2,2026-01-31T12:00:00.000Z,\n"));
}

TEST(Csv, ReadAsUpstreamsScriptsReadIt) {
  if (!is_installed("python3")) GTEST_SKIP() << "python3 is not in PATH";
  const TemporaryFolder folder;
  write_reports({sample_run(), sample_results()}, folder.path());
  const Finished finished =
      run_line("python3 '" TORCHSTONE_TEST_DIR "/unit/reports/read_like_upstream.py' '" + folder.path().string() + "'");
  EXPECT_EQ(finished.exit_code, 0) << finished.output;
  EXPECT_THAT(finished.output, testing::HasSubstr("accuracy fail_accuracy_model fail_accuracy"));
  EXPECT_THAT(finished.output, testing::HasSubstr("speedup resnet50 1.430000"));
  EXPECT_THAT(finished.output, testing::HasSubstr("speedup slow_net 0.500000"));
  EXPECT_THAT(finished.output, testing::HasSubstr("tolerance resnet50 0.012346"));
  EXPECT_THAT(finished.output, testing::HasSubstr("wide <script>&\"', größe 模型 fail_to_compile"));
}

}  // namespace
}  // namespace torchstone::write
