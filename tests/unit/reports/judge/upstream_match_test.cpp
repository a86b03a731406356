// Tables of benchmarks/dynamo as baselines: reading, refusals, the case of each row, and verdicts.

#include <cmath>
#include <fstream>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/judge/baseline_input.h"
#include "reports/judge/baseline_report.h"
#include "reports/record/tables/upstream_csv.h"
#include "tests/temporary_folder.h"

namespace torchstone::judge {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;
using testing::UnorderedElementsAre;

// Formats of upstream: three blank lines between rows here, CRLF and padding with "0" below.
const std::string expected_csv =
    "name,accuracy,graph_breaks\n\n\n\nresnet18,pass,0\n\n\n\nBERT_pytorch,fail_accuracy,0\n\n\n\ndemucs,pass,3\n";
const std::string accuracy_csv =
    "dev,name,batch_size,accuracy,calls_captured,unique_graphs,graph_breaks,unique_graph_breaks\r\n"
    "cpu,resnet18,4,pass,68,1,0,0\r\ncpu,BERT_pytorch,4,pass,409,1,0,0\r\ncuda,dlrm,0,eager_fail_to_run,0,0,0,0\r\n";
const std::string performance_csv =
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,eager_peak_mem,dynamo_peak_mem\n"
    "cpu,resnet18,4,1.500000,20.000000,12.345678,0.912345,1.234567,1.353163\n"
    "cpu,dlrm,4,0.0,0,0,0,0,0\ncpu,BERT_pytorch,16,2.000000,80.000000,31.000000,0.900000,2.000000,2.222222\n";

class UpstreamBaseline : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const auto path = folder_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  Baseline read(const std::string& name, const std::string& text) const { return read_baseline({write(name, text)}); }
  auto reading(const std::string& name, const std::string& text) const {
    return [this, name, text] { read(name, text); };
  }
  TemporaryFolder folder_;
};

Result row(const std::string& model, const std::string& check = "accuracy", const std::string& dtype = "float32") {
  Result r;
  r.suite = "torchbench", r.model = model, r.check = check, r.mode = "inference", r.dtype = dtype, r.device = "cpu";
  r.backend = "inductor", r.preset = "full", r.batch_size = 4;
  r.name = "torchbench/" + check + "." + model + "_" + dtype;
  r.outcome.status = Status::pass;
  return r;
}

/// Returns a row with twenty rounds around this speed-up. The compiled side takes 20 ms.
Result timed(const std::string& model, double speedup) {
  Result r = row(model, "performance");
  auto& samples = r.outcome.samples;
  for (int i = 0; i < 20; ++i) {
    const double noise = 1 + 0.001 * (i % 3 - 1);
    samples["compiled_s"].push_back(0.02);
    samples["eager_s"].push_back(0.02 * speedup * noise);
  }
  r.outcome.metrics = {{"speedup", speedup}, {"compiled_ms", 20}, {"compile_s", 10}};
  return r;
}

std::vector<std::string> matched(const Baseline& baseline, const std::vector<Result>& results) {
  std::vector<std::string> names;
  for (const auto& result : match(*baseline.table, {{}, results}).results) names.push_back(result.name);
  return names;
}

TEST(NamesOfUpstreamsFiles, SayWhatTheirColumnsDoNot) {
  using Facts = std::map<std::string, std::string>;
  EXPECT_EQ(facts_in_name("inductor_torchbench_bfloat16_inference_cuda_accuracy"), (Facts{{"backend", "inductor"},
                                                                                          {"suite", "torchbench"},
                                                                                          {"dtype", "bfloat16"},
                                                                                          {"mode", "inference"},
                                                                                          {"device", "cuda"},
                                                                                          {"check", "accuracy"}}));
  EXPECT_EQ(facts_in_name("cpu_inductor_amp_freezing_timm_inference"), (Facts{{"device", "cpu"},
                                                                              {"backend", "inductor_freezing"},
                                                                              {"dtype", "amp"},
                                                                              {"suite", "timm"},
                                                                              {"mode", "inference"}}));
  EXPECT_EQ(facts_in_name("aot_inductor_huggingface_inference").at("backend"), "inductor");
  EXPECT_EQ(facts_in_name("aot_eager_timm_training").at("backend"), "aot_eager") << "it is not eager";
  EXPECT_EQ(facts_in_name("inductor_torchbench_dynamic_training").at("dynamic"), "batch");
  EXPECT_EQ(facts_in_name("dynamic_cpu_inductor_torchbench_inference").at("dynamic"), "batch");
  EXPECT_EQ(facts_in_name("inductor_dynamic_all_timm_amp_training_cuda_accuracy").at("dynamic"), "all");
  EXPECT_FALSE(facts_in_name("inductor_timm_amp_training_cuda_accuracy").contains("dynamic"));
  EXPECT_EQ(facts_in_name("inductor_timm_float32_inference_cpu_batch_invariance").at("check"), "batch_invariance");
  EXPECT_THAT(facts_in_name("nightly-2026"), IsEmpty());
}

TEST_F(UpstreamBaseline, OfDynamicSizesIsComparedWithDynamicCasesAlone) {
  Result fixed = row("resnet18"), dynamic = row("resnet18");
  dynamic.name += "_dynamic_batch";
  dynamic.dynamic = "batch";
  dynamic.outcome.status = Status::fail_accuracy;
  const auto broken = [&](const std::string& file) {
    std::vector<std::string> names;
    for (const auto& c : compare_with(read(file, expected_csv), {{}, {fixed, dynamic}}).cases)
      if (c.status_worse) names.push_back(c.name);
    return names;
  };
  EXPECT_THAT(broken("inductor_torchbench_dynamic_inference.csv"), testing::ElementsAre(dynamic.name));
  EXPECT_THAT(broken("inductor_torchbench_inference.csv"), IsEmpty());
}

TEST_F(UpstreamBaseline, GivesStatusesAndGraphBreaks) {
  Result broken = row("resnet18"), mended = row("BERT_pytorch"), fewer = row("demucs");
  broken.outcome.status = Status::fail_accuracy;
  fewer.outcome.metrics["graph_breaks"] = 0;
  const Report run{{}, {broken, mended, fewer, row("of_ours")}};
  const auto comparison = compare_with(read("inductor_torchbench_inference.csv", expected_csv), run);
  std::map<std::string, std::pair<bool, Change>> found;
  for (const auto& c : comparison.cases) found[c.name] = {c.status_worse, c.change};
  EXPECT_EQ(found, (std::map<std::string, std::pair<bool, Change>>{{broken.name, {true, Change::broken}},
                                                                   {mended.name, {false, Change::fixed}},
                                                                   {fewer.name, {false, Change::less}},
                                                                   {row("of_ours").name, {false, Change::added}}}));
  EXPECT_EQ(exit_code_of(comparison), 1);
  EXPECT_THAT(write_comparison(comparison), HasSubstr("3 of its 3 rows are of models here"));
}

TEST_F(UpstreamBaseline, OfPerformanceIsANumberAgainstThisRunsInterval) {
  const auto baseline = read("inductor_torchbench_float32_inference_cpu_performance.csv", performance_csv);
  const auto compared = [&](double speedup) { return compare_with(baseline, {{}, {timed("resnet18", speedup)}}); };
  EXPECT_EQ(exit_code_of(compared(1.5)), 0);
  EXPECT_EQ(exit_code_of(compared(1.25)), 1);
  const auto slower = compared(1.3);
  const MetricChange& change = slower.cases.at(0).metrics.at(0);
  EXPECT_EQ(slower.cases.at(0).metrics.size(), 1) << "latencies from another machine are not compared";
  EXPECT_TRUE(change.single_number);
  EXPECT_EQ(change.old_value, 1.5);
  EXPECT_NEAR(change.ratio, 1.3 / 1.5, 1e-3);
  EXPECT_LT(change.ratio_low, change.ratio_high) << "the interval of this run";
  EXPECT_NEAR(change.ratio_high / change.ratio_low, std::exp(2 * 3.1824 * 0.02), 1e-3) << "t of 3, the default 2 %";
  EXPECT_THAT(write_comparison(slower), AllOf(HasSubstr("without an interval"), HasSubstr("a single number against")));

  const auto latencies = compare_with(baseline, {{}, {timed("resnet18", 1.5)}}, {.metrics = {"compiled_ms"}});
  EXPECT_NEAR(latencies.cases.at(0).metrics.at(0).ratio, 1, 1e-9) << "milliseconds there, seconds in the samples";
}

TEST_F(UpstreamBaseline, LeavesOutWhatWasNotMeasuredOrIsOfAnotherBatchAndSaysSo) {
  const auto baseline = read("performance.csv", performance_csv);
  const auto comparison = compare_with(baseline, {{}, {timed("dlrm", 1), timed("BERT_pytorch", 1)}});
  EXPECT_THAT(comparison.notes,
              testing::Contains(AllOf(HasSubstr("dlrm"), HasSubstr("not measured"), HasSubstr("performance.csv:3"))));
  EXPECT_THAT(comparison.notes,
              testing::Contains(AllOf(HasSubstr("BERT_pytorch"), HasSubstr("batch size 16 there, 4 here"))));
  EXPECT_EQ(exit_code_of(comparison), 3) << "no case is on both sides";
}

TEST_F(UpstreamBaseline, MatchesByUpstreamsNamesAndByWhatRowAndFileSay) {
  Result renamed = row("deit_tiny");
  renamed.upstream_name = "resnet18";
  EXPECT_THAT(matched(read("a.csv", expected_csv), {renamed}), ElementsAre(renamed.name));
  EXPECT_THAT(matched(read("a.csv", expected_csv), {renamed, row("resnet18")}), ElementsAre(row("resnet18").name))
      << "its own name goes before";
  Result variant = renamed;
  variant.model = "deit_deployed", variant.name += "_deployed";
  EXPECT_THAT(matched(read("a.csv", expected_csv), {renamed, variant}),
              UnorderedElementsAre(renamed.name, variant.name));

  const Result bfloat16 = row("resnet18", "accuracy", "bfloat16");
  EXPECT_THAT(matched(read("inductor_bfloat16.csv", expected_csv), {row("resnet18"), bfloat16}),
              ElementsAre(bfloat16.name));
  EXPECT_THAT(matched(read("a.csv", accuracy_csv), {row("dlrm")}), IsEmpty()) << "the row is of cuda";
  EXPECT_THAT(matched(read("a.csv", accuracy_csv), {timed("resnet18", 1)}), IsEmpty());
  for (const char* other : {"aot_eager_timm_inference.csv", "inductor_freezing.csv", "inductor_training.csv"})
    EXPECT_THAT(matched(read(other, expected_csv), {row("resnet18")}), IsEmpty()) << other;
  const auto notes = match(*read("inductor_training.csv", expected_csv).table, {{}, {row("resnet18")}}).notes;
  EXPECT_THAT(notes, testing::Contains(HasSubstr("1 case is left out: the baseline is of mode training")));
}

TEST(UpstreamsTables, HaveUpstreamsNamesSoThatItsGatesFindTheRows) {
  Result renamed = row("deit_tiny"), decode = row("llama_decode"), prefill = row("llama_prefill");
  renamed.upstream_name = "deit_tiny.fb_in1k";
  decode.upstream_name = prefill.upstream_name = "llama";
  const auto files = tables::write_upstream_csvs({renamed, decode, prefill});
  ASSERT_EQ(files.size(), 1);
  EXPECT_THAT(files[0].second, AllOf(HasSubstr("cpu,deit_tiny.fb_in1k,4,pass"), HasSubstr("cpu,llama_decode,4,pass"),
                                     HasSubstr("cpu,llama_prefill,4,pass")));
}

TEST_F(UpstreamBaseline, RefusesARowThatMayBeOfSeveralCases) {
  const auto baseline = read("baseline.csv", accuracy_csv);
  EXPECT_THAT(
      [&] {
        match(*baseline.table, {{}, {row("resnet18"), row("resnet18", "accuracy", "bfloat16")}});
      },
      ThrowsMessage<ReportError>(AllOf(HasSubstr("baseline.csv:2: resnet18 may be any of 2 cases"),
                                       HasSubstr("differ in dtype"), HasSubstr("expected a file name"))));
}

TEST_F(UpstreamBaseline, RefusesWhatIsNoSuchTable) {
  const auto refuses = [&](const std::string& text, const std::string& words, const std::string& name = "b.csv") {
    EXPECT_THAT(reading(name, text), ThrowsMessage<ReportError>(HasSubstr(words))) << text;
  };
  refuses("", "the file is empty");
  refuses("dev,name,batch_size\ncpu,a,4\n", "b.csv:1: neither a column accuracy nor a column speedup");
  refuses("name,accuracy,speedup\na,pass,1\n", "b.csv:1: both a column accuracy and a column speedup");
  refuses("model,accuracy\na,pass\n", "b.csv:1: expected a column name");
  refuses("name,accuracy\n", "b.csv:1: only column names");
  refuses("name,accuracy\na,pass\nb,passed\n", "b.csv:3: accuracy of b: expected one of pass, pass_due_to_skip");
  refuses("name,accuracy\na,pass\nb\n", "b.csv:3: accuracy of b: expected one of");
  refuses("name,accuracy\na,pass\n,pass\n", "b.csv:3: a row without a name");
  refuses("dev,name,accuracy\ncpu,a,pass\ncuda,a,pass\ncpu,a,fail_accuracy\n",
          "b.csv:4: a occurs twice, first in line 2");
  refuses("name,speedup\na,fast\n", "b.csv:2: speedup of a: expected a number, found fast");
  refuses("name,speedup\na,\n", "b.csv:2: speedup of a: expected a number, found nothing");
  refuses("name,accuracy,graph_breaks\na,pass,-3\n", "b.csv:2: graph_breaks of a: expected 0 or more, found -3");
  refuses("name,batch_size,speedup\na,-4,1.5\n", "b.csv:2: batch_size of a: expected 0 or more, found -4");
  refuses("name,speedup,abs_latency\na,1.5,2,3\n", "b.csv:2: 4 cells");
  refuses("name,speedup\na,1.5\nb,1.2", "b.csv:3: the last line has no end: the file may be cut off");
  refuses(expected_csv, "b_performance.csv:1: the file's name says performance", "b_performance.csv");
  EXPECT_THAT([&] { read_baseline({(folder_.path() / "absent.csv").string()}); },
              ThrowsMessage<ReportError>(HasSubstr("absent.csv")));
  const std::string table = write("one.csv", expected_csv);
  EXPECT_THAT(
      [&] {
        read_baseline({table, table});
      },
      ThrowsMessage<ReportError>(HasSubstr("one.csv: a table of benchmarks/dynamo is no run")));
}

}  // namespace
}  // namespace torchstone::judge
