#include "reports/judge/table_gate.h"

#include <map>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/judge/upstream_tables.h"
#include "reports/record/report_json.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CsvTable table(const std::string& text) { return parse_csv(text, "t.csv"); }
CsvTable table_in(const std::string& file) { return parse_csv(read_at_most(file, mebibyte), file); }

/// Returns the verdicts by model. A red one begins with "!".
std::map<std::string, std::string> verdicts(const std::vector<GateRow>& rows) {
  std::map<std::string, std::string> found;
  for (const auto& row : rows) found[row.name] = (row.red ? "!" : "") + row.verdict;
  return found;
}
using Verdicts = std::map<std::string, std::string>;

TEST(AccuracyGate, KeepsUpstreamsWords) {
  const auto actual = table(
      "dev,name,batch_size,accuracy\ncpu,same,4,pass\ncpu,known,4,fail_to_run\ncpu,worse,4,fail_accuracy\n"
      "cpu,better,4,pass\ncpu,new,4,pass\ncpu,empty,4,\ncpu,twice,4,pass\ncpu,twice,4,pass\ncpu,shaky,4,OOM\n");
  const auto expected = table(
      "name,accuracy,graph_breaks\nsame,pass,0\n\n\n\nknown,fail_to_run,0\nworse,pass,0\nbetter,fail_to_run,2\n"
      "empty,pass,0\ntwice,pass,0\nshaky,pass,0\ngone,pass,0\n");
  const auto rows = gate_accuracy(actual, expected, {.flaky = {"shaky", "empty"}});
  EXPECT_EQ(verdicts(rows), (Verdicts{{"same", "PASS"},
                                      {"known", "XFAIL"},
                                      {"worse", "!FAIL"},
                                      {"better", "!IMPROVED"},
                                      {"new", "!MISSING_EXPECTED"},
                                      {"empty", "!MISSING_ACCURACY"},
                                      {"twice", "!MISSING_ACCURACY"},
                                      {"shaky", "FAIL_BUT_FLAKY"},
                                      {"gone", "!ABSENT"}}));
  EXPECT_EQ(gate_exit_code(rows), 1);
}

TEST(AccuracyGate, ToleratesAnAbsentModelOnlyWhenAsked) {
  const auto actual = table("name,accuracy\na,pass\n"), expected = table("name,accuracy\na,pass\ncrashed,pass\n");
  EXPECT_EQ(gate_exit_code(gate_accuracy(actual, expected, {})), 1);
  EXPECT_EQ(gate_exit_code(gate_accuracy(actual, expected, {.allow_absent = true})), 0);
}

TEST(AccuracyGate, OfNothingIsNotGreen) {
  const auto none = table("name,accuracy\n"), one = table("name,accuracy\na,pass\n");
  EXPECT_EQ(gate_exit_code(gate_accuracy(none, none, {})), 3);
  EXPECT_EQ(gate_exit_code(gate_accuracy(none, one, {.allow_absent = true})), 3);
  EXPECT_THAT(gate_text({}), HasSubstr("nothing judged: no rows"));
}

TEST(AccuracyGate, RefusesATableWithoutItsColumns) {
  EXPECT_THROW(gate_accuracy(table("name,speedup\n"), table("name,accuracy\n"), {}), ReportError);
  EXPECT_THROW(gate_accuracy(table("model,accuracy\n"), table("name,accuracy\n"), {}), ReportError);
}

TEST(GraphBreaksGate, KnowsWhichDirectionIsWorse) {
  const std::string head = "name,graph_breaks,calls_captured,unique_graphs,fallbacks_to_eager\n";
  const auto expected = table(head +
                              "same,1,10,2,0\nbreaks,1,10,2,0\nfewer,1,10,2,0\ncalls,1,10,2,0\nmixed,1,10,2,0\n"
                              "eager,1,10,2,0\nempty,1,10,2,\nshaky,1,10,2,0\n");
  const auto actual = table(head +
                            "same,1,10,2,0\nbreaks,2,10,2,0\nfewer,0,10,2,0\ncalls,1,9,2,0\nmixed,0,10,2,1\n"
                            "eager,0,0,0,0\nempty,1,10,2,5\nshaky,9,10,2,0\nnew,0,10,2,0\n");
  EXPECT_EQ(verdicts(gate_graph_breaks(actual, expected, {.flaky = {"shaky"}})), (Verdicts{{"same", "PASS"},
                                                                                           {"breaks", "!FAIL"},
                                                                                           {"fewer", "!IMPROVED"},
                                                                                           {"calls", "!FAIL"},
                                                                                           {"mixed", "!FAIL"},
                                                                                           {"eager", "EAGER_FAILED"},
                                                                                           {"empty", "PASS"},
                                                                                           {"shaky", "FAIL_BUT_FLAKY"},
                                                                                           {"new", "!MISSING"}}));
}

TEST(GraphBreaksGate, IsNotGreenWhenNoModelWasCompiled) {
  const auto compiled = table("name,accuracy,graph_breaks,unique_graphs\na,pass,0,1\n"),
             excluded = table("name,accuracy,graph_breaks,unique_graphs\na,unsupported,0,0\n");
  EXPECT_EQ(gate_exit_code(gate_graph_breaks(excluded, compiled, {})), 1) << "a model that is skipped now";
  EXPECT_EQ(gate_exit_code(gate_graph_breaks(excluded, compiled, {.allow_absent = true})), 3);
  const auto one = table("name,graph_breaks,unique_graphs\na,0,0\n");
  EXPECT_EQ(gate_exit_code(gate_graph_breaks(one, one, {})), 3);
}

TEST(MemoryGate, AsksForTheGivenPartOfTheExpectedRatio) {
  const auto expected = table("name,compression_ratio\na,1.0\nb,1.0\nc,1.0\n");
  const auto actual = table("name,compression_ratio\na,0.95\nb,0.9499\nc,nan\nd,0.1\n");
  EXPECT_EQ(verdicts(gate_memory(actual, expected, {})),
            (Verdicts{{"a", "PASS"}, {"b", "!FAIL"}, {"c", "!MISSING_ACTUAL"}, {"d", "MISSING_EXPECTED"}}));
  EXPECT_EQ(verdicts(gate_memory(actual, expected, {.part = 0.9})).at("b"), "PASS");
}

TEST(MemoryGate, IsRedForARatioThatWasNotMeasured) {
  const auto crashed = table("name,compression_ratio\na,0\nb,0.000000\n");
  EXPECT_EQ(verdicts(gate_memory(crashed, crashed, {.flaky = {"a"}})),
            (Verdicts{{"a", "!NOT_MEASURED"}, {"b", "!NOT_MEASURED"}}));
  const auto measured = table("name,compression_ratio\na,1.2\nb,0\n");
  EXPECT_EQ(verdicts(gate_memory(measured, crashed, {})),
            (Verdicts{{"a", "MISSING_EXPECTED"}, {"b", "!NOT_MEASURED"}}));
}

TEST(SpeedGate, IsOneSidedUnlessAsked) {
  const auto actual = table("name,speedup\nslow,0.94\nlimit,0.95\nfast,3\nfailed,0\nempty,\nnan,nan\nhuge,inf\n");
  const SpeedTarget target{.metric = "speedup", .threshold = 1, .scale = 0.95};
  EXPECT_EQ(verdicts(gate_speed(actual, target, {})), (Verdicts{{"slow", "!FAIL"},
                                                                {"limit", "PASS"},
                                                                {"fast", "PASS"},
                                                                {"failed", "!NOT_MEASURED"},
                                                                {"empty", "!NOT_MEASURED"},
                                                                {"nan", "!NOT_MEASURED"},
                                                                {"huge", "!NOT_MEASURED"}}));
  SpeedTarget both = target;
  both.fail_on_improvement = true;
  EXPECT_EQ(verdicts(gate_speed(actual, both, {.flaky = {"slow", "empty"}})).at("fast"), "!IMPROVED");
  EXPECT_EQ(verdicts(gate_speed(actual, both, {.flaky = {"slow", "empty"}})).at("slow"), "FAIL_BUT_FLAKY");
  EXPECT_EQ(verdicts(gate_speed(actual, both, {.flaky = {"slow", "empty"}})).at("empty"), "!NOT_MEASURED");
}

TEST(SpeedGate, ALatencyIsBetterWhenLowerAndNeverZero) {
  const auto actual = table("name,abs_latency\nslow,10.6\nlimit,10.5\nfast,9\nfailed,0\n");
  SpeedTarget target{.metric = "abs_latency", .threshold = 10, .scale = 1.05};
  EXPECT_EQ(verdicts(gate_speed(actual, target, {})),
            (Verdicts{{"slow", "!FAIL"}, {"limit", "PASS"}, {"fast", "PASS"}, {"failed", "!NOT_MEASURED"}}));
  target.fail_on_improvement = true;
  EXPECT_EQ(verdicts(gate_speed(actual, target, {})).at("fast"), "!IMPROVED");
}

TEST(SpeedGate, JudgesANoisySpeedUpByItsIntervalAlone) {
  const auto actual = table(
      "name,speedup,noisy,speedup_low,speedup_high\nclear,0.9,,0.85,0.96\nhardly,0.9,wide,0.3,1.5\nlucky,1.2,wide,0.6,"
      "1.8\nopen,1.2,no bound,0,inf\nnear,0.7,The threads ran in different cache domains,0.69,0.71\nslow,0.5,The "
      "threads ran "
      "apart,0.49,0.51\nmissed,0.6,wide,0.35,0.9\nfast,3,wide,2,4\n");
  const SpeedTarget target{.metric = "speedup", .threshold = 1};
  const auto rows = gate_speed(actual, target, {});
  EXPECT_EQ(verdicts(rows), (Verdicts{{"clear", "!FAIL"},
                                      {"hardly", "NOISY"},
                                      {"lucky", "NOISY"},
                                      {"open", "NOISY"},
                                      {"near", "NOISY"},
                                      {"slow", "!FAIL"},
                                      {"missed", "!FAIL"},
                                      {"fast", "PASS_BUT_NOISY"}}));
  EXPECT_EQ(rows[1].detail, "speedup=0.9, limit=1; noisy: wide");
  EXPECT_THAT(gate_text(rows), testing::AllOf(HasSubstr("~ hardly  NOISY: "), HasSubstr("~ fast    PASS_BUT_NOISY: "),
                                              HasSubstr("3 FAIL, 4 NOISY, 1 PASS_BUT_NOISY")));
  SpeedTarget both = target;
  both.fail_on_improvement = true;
  EXPECT_EQ(verdicts(gate_speed(actual, both, {})).at("fast"), "NOISY") << "is it too fast?";
}

TEST(SpeedGate, OfNoisySpeedUpsAloneIsNotGreen) {
  const SpeedTarget target{.metric = "speedup", .threshold = 1};
  const auto noisy = table("name,speedup,noisy,speedup_low,speedup_high\na,1.2,wide,0.6,1.8\n");
  EXPECT_EQ(gate_exit_code(gate_speed(noisy, target, {})), 3);
  const auto met = table("name,speedup,noisy,speedup_low,speedup_high\na,3,wide,2,4\n");
  EXPECT_EQ(gate_exit_code(gate_speed(met, target, {})), 0);
}

TEST(SpeedGate, OfALatencyBesideANoisySpeedUpIsUndecided) {
  const auto actual = table("name,abs_latency,noisy,speedup_low,speedup_high\na,20,wide,0.6,1.8\nb,20,,0.9,1.1\n");
  EXPECT_EQ(verdicts(gate_speed(actual, {.metric = "abs_latency", .threshold = 10}, {})),
            (Verdicts{{"a", "NOISY"}, {"b", "!FAIL"}}));
}

TEST(GateInput, KnowsWhichSpeedUpsOfResultsAreNoisy) {
  Result noisy = simple_result("S/Performance.A/noisy", Status::pass, "performance");
  noisy.outcome.metrics = {{"speedup", 1.2}, {"speedup_low", 0.6}, {"speedup_high", 1.8}};
  const TemporaryFolder folder;
  write::write_reports({sample_run(), {noisy}}, folder.path());
  const auto tables = upstream_tables(folder.path(), "speedup");
  ASSERT_EQ(tables.size(), 1u);
  const auto rows = gate_speed(tables[0], {.metric = "speedup", .threshold = 1}, {});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].verdict, "NOISY");
  EXPECT_THAT(rows[0].detail, HasSubstr("noisy: its interval is ±50 % wide"));
  const auto of_upstream = upstream_tables(folder.path() / "csv", "speedup");
  EXPECT_FALSE(of_upstream.at(0).column("noisy")) << "the files keep upstream's columns";
}

TEST(GateText, IsAlignedAndCounts) {
  EXPECT_EQ(gate_text({{"größe", "PASS", "", false}, {"a", "FAIL", "why\x1b", true}}),
            "  größe  PASS\n! a      FAIL: why\\x1b\nred: 1 FAIL, 1 PASS\n");
}

TEST(GateInput, TakesResultsTheirFolderAFolderOfTablesAndATable) {
  const TemporaryFolder folder;
  write::write_reports({sample_run(), sample_results()}, folder.path());
  const auto files = [&](const std::string& path, const std::string& column) {
    std::vector<std::string> names;
    for (const auto& t : upstream_tables(folder.path() / path, column))
      names.push_back(t.file.substr(t.file.find_last_of("/:") + 1));
    return names;
  };
  const auto accuracy = ElementsAre("inductor_torchbench_float32_inference_cpu_accuracy.csv");
  EXPECT_THAT(files("", "accuracy"), accuracy);
  EXPECT_THAT(files("results.json", "accuracy"), accuracy);
  EXPECT_THAT(files("csv", "accuracy"), accuracy);
  EXPECT_THAT(files("csv/inductor_torchbench_float32_inference_cpu_accuracy.csv", "accuracy"), accuracy);
  EXPECT_EQ(files("", "speedup").size(), 2u);
  EXPECT_THROW(files("none", "accuracy"), ReportError);
  EXPECT_THROW(files("csv/inductor_torchbench_float32_inference_cpu_accuracy.csv", "speedup"), ReportError);
}

TEST(GateInput, TakesATableWithoutRowsInWhichNothingIsJudged) {
  const TemporaryFolder folder;
  write_atomically((folder.path() / "t.csv").string(), "name,accuracy\n");
  EXPECT_TRUE(upstream_tables(folder.path() / "t.csv", "accuracy").at(0).rows.empty());
}

TEST(GateInput, RefusesWhatIsNoTableOfModelsWithFileAndLine) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "t.csv").string();
  const auto refuses = [&](const std::string& text, const std::string& words, const std::string& column = "accuracy") {
    write_atomically(file, text);
    for (const auto& path : {file, folder.path().string()})
      EXPECT_THAT([&] { upstream_tables(path, column); }, testing::ThrowsMessage<ReportError>(HasSubstr(words)))
          << text;
  };
  refuses("name,accuracy\na,pass\nb,pa", "t.csv:3: the last line has no end");
  refuses("name,accuracy\na,pass\nb,pass", "t.csv:3: the last line has no end: the file may be cut off");
  refuses("name,accuracy\na,passs\n", "t.csv:2: accuracy of a: expected one of pass");
  refuses("name,accuracy\na,pass\na,pass\n", "t.csv:3: a occurs twice, first in line 2");
  refuses("name,batch_size,accuracy\na,x,pass\n", "t.csv:2: batch_size of a: expected a number, found x");
  refuses("name,accuracy,graph_breaks\na,pass,-3\n", "t.csv:2: graph_breaks of a: expected 0 or more, found -3");
  refuses("name,speedup\na,fast\n", "t.csv:2: speedup of a: expected a number, found fast", "speedup");
  refuses("name,compression_ratio\na,high\n", "t.csv:2: compression_ratio of a: expected a number, found high",
          "compression_ratio");
  refuses("name,graph_breaks,unique_graphs\na,0,one\n", "t.csv:2: unique_graphs of a: expected a number, found one",
          "graph_breaks");
  write_atomically(file, "name,speedup\na,\nb,nan\nc,0.0\n");
  EXPECT_EQ(upstream_tables(file, "speedup").size(), 1u) << "the gate reports these models as not measured";
  write_atomically(file, "name,max\na,x");
  EXPECT_TRUE(upstream_tables(folder.path(), "accuracy").empty()) << "the folder has only tables of other kinds";
}

TEST(GateInput, FindsTheTableThatBelongsToAnother) {
  const auto named = [](const std::string& file) { return parse_csv("name,accuracy\n", file); };
  const std::vector<CsvTable> expected = {named("e/a.csv"), named("e/b.csv")};
  EXPECT_EQ(find_counterpart(named("run/results.json:b.csv"), expected).file, "e/b.csv");
  EXPECT_EQ(find_counterpart(named("c.csv"), {named("only.csv")}).file, "only.csv");
  EXPECT_THROW(find_counterpart(named("c.csv"), expected), ReportError);
  EXPECT_THROW(find_counterpart(named("c.csv"), {}), ReportError);
  EXPECT_THAT(without_counterpart({named("b.csv")}, expected), testing::SizeIs(expected.size() - 1));
  EXPECT_THAT(without_counterpart({named("c.csv")}, {named("only.csv")}), testing::IsEmpty());
}

/// Returns a gate's lines "model verdict", without verdicts that upstream's scripts do not have.
std::string lines_of(const std::vector<GateRow>& rows) {
  std::string text;
  for (const auto& row : rows) {
    if (row.verdict == "ABSENT") continue;
    text += row.name + " " + (row.verdict == "NOT_MEASURED" ? "FAIL" : row.verdict) + "\n";
  }
  return text;
}

class WithPandas : public testing::Test {
 protected:
  /// Expects the same verdicts from upstream's rules in pandas. Skips the test if pandas is not installed.
  void expect_same(const std::string& kind, const std::string& first, const std::string& second,
                   const std::vector<GateRow>& rows) {
    const std::string python = std::string(TORCHSTONE_PYTHON).empty() ? "python3" : TORCHSTONE_PYTHON;
    const Finished judged = run_line("'" + python + "' '" TORCHSTONE_TEST_DIR "/unit/reports/judge_with_pandas.py' " +
                                     kind + " '" + first + "' '" + second + "'");
    if (judged.exit_code == 77) GTEST_SKIP() << "pandas is not installed for " << python;
    EXPECT_EQ(judged.exit_code, 0) << judged.output;
    EXPECT_FALSE(rows.empty());
    EXPECT_EQ(judged.output, lines_of(rows)) << kind << " " << first;
  }
};

TEST_F(WithPandas, OurTablesAreJudgedAsByUpstreamsScripts) {
  if (std::string(TORCHSTONE_PYTHON).empty() && !is_installed("python3")) GTEST_SKIP() << "python3 is not in PATH";
  const TemporaryFolder folder;
  write::write_reports({sample_run(), sample_results()}, folder.path());
  const std::string stem = (folder.path() / "csv/inductor_torchbench_float32_inference_cpu").string();
  const std::string passes = (folder.path() / "passes.csv").string();
  write_atomically(passes,
                   "name,accuracy,graph_breaks,compression_ratio\nfail_accuracy_model,pass,0,1.3\n\n\n\n"
                   "pass_model,pass,2,\nOOM_model,OOM,0,1\nalexnet,pass,3,1.4\nresnet50,pass,0,1.3\n");
  const CsvTable actual = table_in(stem + "_accuracy.csv"), timed = table_in(stem + "_full_performance.csv"),
                 expected = table_in(passes);
  expect_same("accuracy", actual.file, passes, gate_accuracy(actual, expected, {}));
  expect_same("accuracy", actual.file, actual.file, gate_accuracy(actual, actual, {}));
  expect_same("graph_breaks", actual.file, passes, gate_graph_breaks(actual, expected, {}));
  expect_same("graph_breaks", timed.file, passes, gate_graph_breaks(timed, expected, {}));
  expect_same("memory", timed.file, passes, gate_memory(timed, expected, {}));
  expect_same("speedup", timed.file, "1.4", gate_speed(timed, {.metric = "speedup", .threshold = 1.4}, {}));
}

}  // namespace
}  // namespace torchstone::judge
