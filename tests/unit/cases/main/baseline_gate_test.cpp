#include "cases/main/baseline_gate.h"

#include <filesystem>
#include <fstream>
#include <tuple>

#include <gmock/gmock.h>

#include "cases/main/gtest_flags.h"
#include "reports/record/verdict.h"
#include "tests/temporary_folder.h"
#include "tests/unit/cases/support.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Result record(Status status, double bytes) {
  Result result;
  result.name = "suite/Performance.A/case";
  result.outcome.status = status;
  result.outcome.metrics["compiled_peak_bytes"] = bytes;
  return result;
}

std::vector<bool> marked(const Result& before, const std::vector<Result>& now) {
  judge::Baseline baseline;
  baseline.report.results = {before};
  Report run{{}, now};
  const auto flags = test::flags_of({"--torchstone_baseline=/b.json", "--torchstone_baseline_fail_on=slower,more"});
  EXPECT_EQ(judge_against(baseline, {}, flags, {}, run).exit_code, 1);
  std::vector<bool> marks;
  for (const auto& result : run.results) marks.push_back(result.baseline.change == BaselineChange::changed);
  return marks;
}

TEST(ARunAgainstItsBaseline, MarksTheRepetitionThatWasCompared) {
  EXPECT_THAT(marked(record(Status::fail_to_run, 100), {record(Status::fail_to_run, 101), record(Status::pass, 100)}),
              testing::ElementsAre(true, false))
      << "a repetition with an unexpected result represents its case";
  EXPECT_THAT(marked(record(Status::pass, 100), {record(Status::pass, 101), record(Status::pass, 101)}),
              testing::ElementsAre(false, true));
}

TEST(ARunAgainstItsBaseline, IsRedByBytesOnlyWhereFailOnNamesThem) {
  judge::Baseline baseline;
  baseline.report.results = {record(Status::pass, 100)};
  Report run{{}, {record(Status::pass, 101)}};
  EXPECT_EQ(judge_against(baseline, {}, {}, {}, run).exit_code, 0);
  EXPECT_TRUE(run.results[0].as_expected());
  const auto flags = test::flags_of({"--torchstone_baseline=/b.json", "--torchstone_baseline_fail_on=more"});
  const BaselineVerdict verdict = judge_against(baseline, {}, flags, {}, run);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_EQ(verdict.why, "1 case changed in a way that fail-on names");
  EXPECT_EQ(run.results[0].baseline.reason,
            "changed since the baseline: compiled, peak memory 100 B → 101 B (+1.00 %, MORE)");
  EXPECT_EQ(verdict_of(run.results[0]).word, "CHANGED");
}

TEST(ARunAgainstItsBaseline, AddsTheBaselineToTheCommandOfARedCase) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "old.json", history = folder.path() / "history.jsonl";
  std::ofstream(path) << "{}";
  judge::Baseline baseline;
  baseline.report.results = {record(Status::pass, 100)};
  Report run{{}, {record(Status::pass, 101)}};
  run.results[0].reproduce = "torchstone --gtest_filter=case";
  const auto flags = test::flags_of({"--torchstone_baseline=" + path, "--torchstone_baseline_history=" + history,
                                     "--torchstone_baseline_fail_on=more", "--torchstone_out=/new"});
  Report green = run;
  green.results[0].outcome.metrics["compiled_peak_bytes"] = 100;
  judge_against(baseline, {}, flags, {}, green);
  EXPECT_EQ(green.results[0].reproduce, "torchstone --gtest_filter=case");
  judge_against(baseline, {}, flags, {}, run);
  EXPECT_THAT(run.results[0].reproduce,
              AllOf(testing::StartsWith("torchstone --gtest_filter=case "), HasSubstr(" --torchstone_baseline=" + path),
                    HasSubstr(" --torchstone_baseline_history=" + history),
                    HasSubstr(" --torchstone_baseline_fail_on=more"), HasSubstr(" --torchstone_out=/new")))
      << "the default folder may hold the baseline";
  std::filesystem::remove(path);
  run.results[0].reproduce = "torchstone --gtest_filter=case";
  judge_against(baseline, {}, flags, {}, run);
  EXPECT_EQ(run.results[0].reproduce, "torchstone --gtest_filter=case") << "the run replaced its baseline";
}

TEST(ARunAgainstItsBaseline, IsRefusedInTheWordsOfTheReports) {
  judge::Baseline other;
  other.report.results = {record(Status::pass, 100)};
  other.report.results[0].name = "suite/Performance.A/another";
  Report run{{}, {record(Status::pass, 100)}};
  const BaselineVerdict verdict = judge_against(other, {}, {}, {}, run);
  EXPECT_EQ(verdict.exit_code, 3);
  EXPECT_EQ(verdict.why, "nothing compared: the baseline has none of these cases");
}

TEST(ARunAgainstItsBaseline, MarksWhatIsLeftOutNow) {
  judge::Baseline baseline;
  baseline.report.results = {record(Status::pass, 100)};
  Report run{{}, {record(Status::unsupported, 100)}};
  run.results[0].outcome.reason = "no C++ compiler: g++, c++, clang++ not found";
  const BaselineVerdict verdict = judge_against(baseline, {}, {}, {}, run);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.why, AllOf(HasSubstr("1 case of the baseline is gone: suite/Performance.A/case"),
                                 HasSubstr("--torchstone_baseline_fail_on=slower")));
  EXPECT_EQ(run.results[0].baseline.change, BaselineChange::gone);
  EXPECT_EQ(run.results[0].baseline.reason, "gone since the baseline: pass → unsupported");
  EXPECT_EQ(reason_of(run.results[0]),
            "gone since the baseline: pass → unsupported: no C++ compiler: g++, c++, clang++ not found");
  EXPECT_FALSE(run.results[0].as_expected());
  EXPECT_EQ(verdict_of(run.results[0]).word, "GONE");
}

TEST(ARunAgainstItsBaseline, LetsPassWhatFailOnDoesNotName) {
  judge::Baseline baseline;
  baseline.report.results = {record(Status::pass, 100), record(Status::pass, 100)};
  baseline.report.results[1].name = "suite/Performance.A/other";
  Report run{{}, baseline.report.results};
  run.results[0].outcome.status = Status::unsupported;
  const auto flags = test::flags_of({"--torchstone_baseline=/b.json", "--torchstone_baseline_fail_on=slower"});
  EXPECT_EQ(judge_against(baseline, {}, flags, {}, run).exit_code, 0);
  EXPECT_TRUE(run.results[0].as_expected());
  const auto wrong = test::flags_of({"--torchstone_baseline=/b.json", "--torchstone_baseline_fail_on=slow"});
  EXPECT_THAT(test::error_of([&] { baseline_options(wrong); }),
              AllOf(HasSubstr("--torchstone_baseline_fail_on=slow"), HasSubstr("different_model")));
}

TEST(ARunAgainstItsBaseline, SaysThatTheModelIsAnotherOne) {
  judge::Baseline baseline;
  baseline.report.results = {record(Status::pass, 100)};
  Report run{{}, baseline.report.results};
  baseline.report.results[0].outcome.model.weights = "a", run.results[0].outcome.model.weights = "b";
  const BaselineVerdict verdict = judge_against(baseline, {}, {}, {}, run);
  EXPECT_EQ(verdict.exit_code, 1);
  EXPECT_THAT(verdict.why, HasSubstr("1 case is another model than the baseline's"));
  EXPECT_EQ(run.results[0].baseline.change, BaselineChange::different_model);
  EXPECT_EQ(run.results[0].baseline.reason, "different model: its weights are not the baseline's");
  EXPECT_EQ(verdict_of(run.results[0]).word, "DIFFERENT MODEL");
}

TEST(ARunAgainstItsBaseline, ListsAWrongAnswerBeforeADifferentModel) {
  judge::Baseline baseline;
  baseline.report.results = {record(Status::pass, 100)};
  Report run{{}, {record(Status::fail_accuracy, 100)}};
  run.results[0].outcome.reason = "output [0] is wrong";
  baseline.report.results[0].outcome.model.program = "a", run.results[0].outcome.model.program = "b";
  EXPECT_EQ(judge_against(baseline, {}, {}, {}, run).exit_code, 1);
  EXPECT_EQ(reason_of(run.results[0]), "output [0] is wrong\ndifferent model: its program is not the baseline's");
  EXPECT_EQ(verdict_of(run.results[0]).word, "FAIL");
}

TEST(ARunAgainstItsBaseline, ListsALossBeforeADifferentModel) {
  judge::Baseline baseline;
  baseline.report.results = {record(Status::pass, 100)};
  Report run{{}, {record(Status::pass, 101)}};
  baseline.report.results[0].outcome.model.program = "a", run.results[0].outcome.model.program = "b";
  const auto flags =
      test::flags_of({"--torchstone_baseline=/b.json", "--torchstone_baseline_fail_on=more,different_model"});
  EXPECT_EQ(judge_against(baseline, {}, flags, {}, run).exit_code, 1);
  EXPECT_EQ(run.results[0].baseline.change, BaselineChange::changed);
  EXPECT_THAT(run.results[0].baseline.reason,
              AllOf(testing::StartsWith("changed since the baseline: compiled, peak memory 100 B → 101 B"),
                    testing::EndsWith("; different model: its program is not the baseline's")));
}

constexpr auto one_row =
    "suite: small\ndefaults: {seed: 5}\nmatrix:\n"
    "  - {checks: [accuracy], dtypes: [float32], backends: [inductor]}\nmodels: [first]\n";

/// Returns the baseline's cases that these flags and this filter select, but that the run lacks.
std::vector<std::string> missed(const std::vector<std::string>& arguments, const std::string& filter = "*") {
  const test::Folder folder;
  folder.write("s.yaml", one_row);
  const auto suites = suite::read_suites(folder.path() + "/s.yaml");
  const auto flags = test::flags_of(arguments);
  const BaselineScope scope(flags, suites, expand(suites, test::fake_known(), flags));
  std::vector<std::string> names;
  const std::string before = GTEST_FLAG_GET(filter);
  GTEST_FLAG_SET(filter, filter);
  for (const auto& [model, dtype, suite] : {std::tuple{"first", "float32", "small"},
                                            {"second", "float32", "small"},
                                            {"second", "bfloat16", "small"},
                                            {"file", "float32", "own"}}) {
    Result result;
    result.suite = suite, result.model = model, result.check = "accuracy", result.mode = "inference";
    result.dtype = dtype, result.backend = "inductor", result.device = "cpu";
    if (std::string(model) != "file") result.preset = "mini";
    result.name = fmt::format("{}/Accuracy.CompiledMatchesEager/{}_inference_{}_inductor_cpu", suite, model, dtype);
    if (scope.misses(result)) names.push_back(fmt::format("{} {}", model, dtype));
  }
  GTEST_FLAG_SET(filter, before);
  return names;
}

TEST(BaselineScope, MissesWhatNoFlagAndNoFilterLeavesOut) {
  using testing::ElementsAre;
  EXPECT_THAT(missed({}), ElementsAre("second float32", "second bfloat16", "file float32"))
      << "this run has no suite for files, so the suite own counts as removed";
  EXPECT_THAT(missed({"--torchstone_suites=/s"}), ElementsAre("second float32", "second bfloat16"));
  EXPECT_THAT(missed({"--torchstone_suite=small"}), ElementsAre("second float32", "second bfloat16"));
  EXPECT_THAT(missed({"--torchstone_dtypes=float32", "--torchstone_suite=small"}), ElementsAre("second float32"));
  EXPECT_THAT(missed({"--torchstone_backends=torchscript"}), ElementsAre());
  EXPECT_THAT(missed({"--torchstone_presets=full"}), ElementsAre("file float32")) << "a file has one size";
  EXPECT_THAT(missed({"--torchstone_only=first"}), ElementsAre());
  EXPECT_THAT(missed({}, "*/first_*"), ElementsAre());
  EXPECT_THAT(missed({}, "small/*-*bfloat16*"), ElementsAre("second float32"));
}

TEST(GTestFilter, KeepsNamesAsGoogleTestDoes) {
  for (const auto& [filter, kept] : {std::pair{"*", true},
                                     {"", true},
                                     {"a/B.C/d", true},
                                     {"a/B.C/?", true},
                                     {"x:a/*", true},
                                     {"-x*", true},
                                     {"*-*C/d", false},
                                     {"a/*-x:*d", false},
                                     {"x", false},
                                     {"a/B.C/[d]", false}})
    EXPECT_EQ(filter_keeps(filter, "a/B.C/d"), kept) << filter;
}

}  // namespace
}  // namespace torchstone
