#include "reports/judge/baseline_report.h"

#include <limits>
#include <sstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

BaselineComparison sample_comparison() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  BaselineComparison comparison;
  comparison.cases = {
      {"suite/broken", Change::broken, "pass", "fail_accuracy", true},
      {"suite/slow,er",
       Change::slower,
       "pass",
       "pass",
       false,
       {{"speedup", 1.5, 1.2, 0.8, 0.79, 0.81, Change::slower},
        {"compile_s", 10, 20, 2, 0, infinity, Change::ambiguous},
        {"compiled_peak_bytes", 4096, 4096, 1, 1, 1, Change::same},
        {"artifact_bytes", 2000000, 2000001, 2000001 / 2e6, 2000001 / 2e6, 2000001 / 2e6, Change::more}}},
      {"suite/gone", Change::gone, "pass", ""},
      {"suite/new", Change::added, "", "undecided"},
      {"suite/same", Change::same, "pass", "pass"}};
  return comparison;
}

int code_of(Change change, const std::vector<Change>& fail_on = default_fail_on()) {
  BaselineComparison comparison;
  comparison.cases = {{"a", change, "pass", "pass"}};
  if (change == Change::other_model) comparison.cases[0].other_parts = {.program = true};
  return exit_code_of(comparison, fail_on);
}

TEST(ComparisonText, ShowsWhatChangedWithItsInterval) {
  const std::string text = write_comparison(sample_comparison());
  EXPECT_THAT(text, HasSubstr("! BROKEN    suite/broken  pass → fail_accuracy\n"));
  EXPECT_THAT(text, HasSubstr("-20.00 % [-21.00 -19.00]"));
  EXPECT_THAT(text, HasSubstr("+100.00 % [no interval]"));
  EXPECT_THAT(text, AllOf(HasSubstr("2000000 "), HasSubstr("2000001 ")));  // a difference of one byte is shown
  EXPECT_THAT(text, HasSubstr("x GONE      suite/gone  (was pass)\n"));
  EXPECT_THAT(text, HasSubstr("x NEW       suite/new  (undecided)\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("suite/same")), Not(HasSubstr("compiled_peak_bytes"))));
  EXPECT_THAT(text, testing::EndsWith("Against the baseline, 5 cases: 1 BROKEN, 1 SLOWER, 0 AMBIGUOUS, 1 GONE, 1 NEW, "
                                      "0 FASTER, 1 SAME\n"));
  EXPECT_THAT(write_comparison(sample_comparison(), /*all=*/true),
              AllOf(HasSubstr("suite/same"), HasSubstr("compiled_peak_bytes")));
}

TEST(ComparisonText, SaysWhyTimingsAreMissing) {
  BaselineComparison comparison = sample_comparison();
  comparison.machine_differences = {"cpu: A now, B in the baseline"};
  comparison.timings_excluded = 7;
  EXPECT_THAT(write_comparison(comparison), AllOf(HasSubstr("Another machine: cpu: A now, B in the baseline\n"),
                                                  HasSubstr("7 timings are not compared")));
}

TEST(ComparisonText, MarksCasesThatAreNoisyInARun) {
  BaselineComparison comparison = sample_comparison();
  comparison.cases[0].old_noisy = comparison.cases[1].new_noisy = true;
  comparison.cases[4].old_noisy = comparison.cases[4].new_noisy = true;
  EXPECT_THAT(write_comparison(comparison, /*all=*/true),
              AllOf(HasSubstr("suite/broken  pass → fail_accuracy  (noisy in the baseline)\n"),
                    HasSubstr("suite/slow,er  (noisy now)\n"), HasSubstr("suite/same  (noisy in both)\n")));
  EXPECT_THAT(write_comparison_csv(comparison), HasSubstr("\"suite/slow,er\",status,pass,pass,,,,SLOWER,noisy now\n"));
  const auto json = nlohmann::json::parse(write_comparison_json(comparison));
  EXPECT_EQ(json.at("cases")[1].at("new_noisy"), true);
  EXPECT_EQ(json.at("cases")[1].at("old_noisy"), false);
}

TEST(ComparisonCsv, HasARowForEveryMetricAndStatus) {
  const std::string text = write_comparison_csv(sample_comparison());
  EXPECT_THAT(text, testing::StartsWith("name,metric,old,new,ratio,ratio_low,ratio_high,change,noisy\n"
                                        "suite/broken,status,pass,fail_accuracy,,,,BROKEN,\n"
                                        "\"suite/slow,er\",status,pass,pass,,,,SLOWER,\n"
                                        "\"suite/slow,er\",speedup,1.5,1.2,0.8,0.79,0.81,SLOWER,\n"
                                        "\"suite/slow,er\",compile_s,10,20,2,0,Infinity,AMBIGUOUS,\n"));
}

TEST(ComparisonJson, HoldsEverything) {
  const auto json = nlohmann::json::parse(write_comparison_json(sample_comparison()));
  EXPECT_EQ(json.at("schema"), "torchstone/comparison/1");
  EXPECT_EQ(json.at("cases").size(), 5u);
  EXPECT_EQ(json.at("counts").at("BROKEN"), 1);
  EXPECT_EQ(json.at("counts").at("SLOWER"), 1);
  EXPECT_EQ(json.at("cases")[0].at("status_worse"), true);
  EXPECT_EQ(json.at("cases")[0].at("change"), "BROKEN");
  EXPECT_EQ(json.at("counts").at("MORE"), 0);
  EXPECT_EQ(json.at("cases")[1].at("metrics").at("speedup").at("ratio_low"), 0.79);
  EXPECT_EQ(json.at("cases")[1].at("metrics").at("compile_s").at("ratio_high"), "Infinity");
}

TEST(ComparisonExitCode, IsOneForWhatIsWorse) {
  EXPECT_EQ(code_of(Change::same), 0);
  EXPECT_EQ(code_of(Change::faster), 0);
  EXPECT_EQ(code_of(Change::ambiguous), 0);
  EXPECT_EQ(code_of(Change::slower), 1);
  EXPECT_EQ(code_of(Change::ambiguous, {Change::slower, Change::ambiguous}), 1);
  EXPECT_EQ(code_of(Change::other_model), 1);
  EXPECT_EQ(code_of(Change::slower, {Change::gone}), 0);
  BaselineComparison broken;
  broken.cases = {{"a", Change::broken, "pass", "crash", true}};
  EXPECT_EQ(exit_code_of(broken, {}), 1);  // independent of --torchstone_baseline_fail_on
}

TEST(ComparisonExitCode, IsOneForMoreOnlyWhereThatIsAskedFor) {
  BaselineComparison comparison;
  comparison.cases = {{"a", Change::faster, "pass", "pass"}};
  comparison.cases[0].metrics = {{"speedup", 1, 2, 2, 1.9, 2.1, Change::faster},
                                 {"compiled_peak_bytes", 4, 5, 1.25, 1.25, 1.25, Change::more},
                                 {"eager_peak_bytes", 5, 4, 0.8, 0.8, 0.8, Change::less}};
  EXPECT_EQ(exit_code_of(comparison), 0);
  EXPECT_EQ(exit_code_of(comparison, {Change::more}), 1) << "whatever the verdict of the case";
  EXPECT_EQ(exit_code_of(comparison, {Change::less}), 0) << "eager's memory is no result";
  EXPECT_EQ(red_words(comparison.cases[0], {Change::more}), "compiled, peak memory 4 B → 5 B (+25.00 %, MORE)");
  EXPECT_THAT(red_sentences(comparison, {Change::more}), ElementsAre("1 case changed in a way that fail-on names"));
}

TEST(ComparisonExitCode, IsOneForAnAmbiguousTimingOfAFixedCaseWhereThatIsAskedFor) {
  BaselineComparison comparison;
  comparison.cases = {{"a", Change::fixed, "crash", "pass"}};
  comparison.cases[0].metrics = {{"speedup", 1.5, 1.4, 0.93, 0.8, 1.1, Change::ambiguous}};
  EXPECT_EQ(exit_code_of(comparison), 0);
  EXPECT_EQ(exit_code_of(comparison, {Change::ambiguous}), 1);
  EXPECT_FALSE(fails_as_worse(comparison.cases[0], {Change::ambiguous}));
  EXPECT_THAT(red_words(comparison.cases[0], {Change::ambiguous}), HasSubstr("AMBIGUOUS"));
}

TEST(ComparisonText, SaysByHowMuchATimingChangedAtLeast) {
  BaselineComparison comparison;
  comparison.cases = {{"a", Change::slower, "pass", "pass"}, {"b", Change::more, "pass", "pass"}};
  comparison.cases[0].metrics = {{"speedup", 4, 1, 0.25, 0.11, 0.553, Change::slower}};
  comparison.cases[0].metrics[0].at_least = 1.8099;
  comparison.cases[1].metrics = {{"graph_breaks", 0, 2, 2, 2, 2, Change::more}};
  EXPECT_THAT(write_comparison(comparison),
              AllOf(HasSubstr("SLOWER, at least 1.8 times slower\n"), HasSubstr("+ MORE      b\n    + graph_breaks"),
                    testing::EndsWith("0 FASTER, 0 SAME, 1 MORE\n")));
  EXPECT_THAT(red_words(comparison.cases[0], default_fail_on()), HasSubstr("SLOWER, at least 1.8 times slower)"));
  const auto json = nlohmann::json::parse(write_comparison_json(comparison));
  EXPECT_EQ(json.at("cases")[0].at("metrics").at("speedup").at("at_least"), 1.8099);
  EXPECT_FALSE(json.at("cases")[1].at("metrics").at("graph_breaks").contains("at_least"));
}

TEST(ComparisonExitCode, IsOneForACaseThatIsLostUnlessThatIsAllowed) {
  BaselineComparison comparison;
  comparison.cases = {{"a", Change::same, "pass", "pass"}, {"b", Change::gone, "pass", "unsupported"}};
  EXPECT_EQ(exit_code_of(comparison), 0) << "it failed in the baseline, so nothing is lost";
  comparison.cases[1].lost = true;
  EXPECT_EQ(exit_code_of(comparison), 1);
  EXPECT_EQ(exit_code_of(comparison, {Change::slower}), 0);
  EXPECT_THAT(write_comparison(comparison), HasSubstr("! GONE      b  pass → unsupported\n"));
  EXPECT_THAT(red_sentences(comparison), ElementsAre("1 case of the baseline is gone: b"));
  EXPECT_THAT(red_sentences(comparison, {Change::slower}), testing::IsEmpty());
  EXPECT_TRUE(is_red_by_coverage(comparison, default_fail_on()));
  EXPECT_FALSE(is_red_by_coverage(comparison, {Change::slower})) << "only slower cases were asked for, not lost ones";
  const auto json = nlohmann::json::parse(write_comparison_json(comparison));
  EXPECT_EQ(json.at("cases")[1].at("lost"), true);
}

TEST(ComparisonExitCode, IsOneForAnotherModelUnlessThatIsAllowed) {
  BaselineComparison comparison;
  comparison.cases = {{"a", Change::other_model, "pass", "pass"}};
  comparison.cases[0].other_parts = {.weights = true};
  EXPECT_EQ(exit_code_of(comparison), 1);
  EXPECT_EQ(exit_code_of(comparison, {Change::slower, Change::gone}), 0);
  EXPECT_EQ(refusal_words(comparison), "");
  EXPECT_THAT(write_comparison(comparison), AllOf(HasSubstr("! DIFFERENT MODEL a  (the weights differ)\n"),
                                                  HasSubstr("0 SAME"), HasSubstr(", 1 DIFFERENT MODEL\n")));
  EXPECT_THAT(red_sentences(comparison), ElementsAre("1 case is another model than the baseline's: a"));
  EXPECT_EQ(nlohmann::json::parse(write_comparison_json(comparison)).at("counts").at("DIFFERENT MODEL"), 1);
}

TEST(ComparisonExitCode, IsOneForASlowerCaseOfAnotherModelWhateverIsAllowed) {
  BaselineComparison comparison;
  comparison.cases = {{"s/P.A/net", Change::slower, "pass", "pass"}};
  CaseChange& change = comparison.cases[0];
  change.other_parts = {.program = true};
  change.metrics = {{"speedup", 4, 1, 0.25, 0.11, 0.44, Change::slower}};
  change.metrics[0].at_least = 2.39;
  EXPECT_EQ(exit_code_of(comparison, {Change::slower}), 1);
  EXPECT_THAT(write_comparison(comparison), HasSubstr("! SLOWER    s/P.A/net  (the program differs)\n"));
  EXPECT_THAT(worse_words(change, {Change::slower}),
              testing::StartsWith("at least 2.3 times slower than the baseline: speed-up 4.000x → 1.000x"));
  EXPECT_EQ(other_model_words(change), "different model: its program is not the baseline's");
  EXPECT_THAT(red_sentences(comparison, {Change::slower}),
              ElementsAre("1 case is worse than the baseline: net: at least 2.3 times slower"));
  EXPECT_THAT(red_sentences(comparison),
              ElementsAre("1 case is worse than the baseline: net: at least 2.3 times slower",
                          "1 case is another model than the baseline's: s/P.A/net"));
  change.other_parts = {.program = true, .weights = true};
  EXPECT_EQ(other_model_words(change), "different model: its program and weights are not the baseline's");
}

TEST(RedSentences, NameThreeCasesAndCountTheOthers) {
  BaselineComparison comparison;
  for (const char* name : {"a", "b", "c", "d"}) {
    comparison.cases.push_back({name, Change::gone, "pass", ""});
    comparison.cases.back().lost = true;
  }
  comparison.cases.push_back({"e", Change::broken, "pass", "crash", true});
  EXPECT_THAT(red_sentences(comparison), ElementsAre("1 case is worse than the baseline: e: pass → crash",
                                                     "4 cases of the baseline are gone: a, b, c, and 1 more"));
}

TEST(ComparisonExitCode, OfNothingIsThreeAndOfRefusedTimingsTwo) {
  BaselineComparison comparison;
  EXPECT_EQ(exit_code_of(comparison), 3);
  comparison.cases = {{"a", Change::gone, "pass", ""}, {"b", Change::added, "", "pass"}};
  EXPECT_EQ(exit_code_of(comparison), 3);
  comparison = sample_comparison();
  comparison.timings_excluded = 1;
  EXPECT_EQ(exit_code_of(comparison), 2);
}

TEST(RefusalWords, AreThoseOfAComparisonThatCouldNotBeMade) {
  BaselineComparison comparison;
  EXPECT_EQ(refusal_words(comparison), "nothing compared: the baseline has none of these cases");
  comparison = sample_comparison();
  EXPECT_EQ(refusal_words(comparison), "") << "what is worse was compared";
  comparison.timings_excluded = 1;
  EXPECT_EQ(refusal_words(comparison), "timings not compared: the baseline is of another machine");
  EXPECT_EQ(allowing_options(comparison), "--other-machine");
}

TEST(RefusalWords, TellAnotherTorchFromAnotherMachine) {
  BaselineComparison comparison = sample_comparison();
  comparison.timings_excluded = 2;
  comparison.torch_difference = "2.14.1 now, 2.13.0 in the baseline";
  comparison.excluded_by_torch = true;
  EXPECT_EQ(refusal_words(comparison), "timings not compared: the baseline is of another torch");
  EXPECT_EQ(allowing_options(comparison), "--other-torch");
  EXPECT_THAT(write_comparison(comparison),
              AllOf(HasSubstr("Another release of torch: 2.14.1 now, 2.13.0 in the baseline\n"),
                    HasSubstr("2 timings are not compared: they were taken with different releases of torch\n")));
  comparison.excluded_by_machine = true;
  EXPECT_EQ(refusal_words(comparison), "timings not compared: the baseline is of another machine and another torch");
  EXPECT_EQ(allowing_options(comparison), "--other-machine --other-torch");
  comparison.timings_excluded = 0;
  comparison.excluded_by_machine = comparison.excluded_by_torch = false;
  EXPECT_EQ(refusal_words(comparison), "");
  EXPECT_THAT(write_comparison(comparison), HasSubstr("in the baseline (compared as asked for)\n"));
  EXPECT_THAT(write_comparison_json(comparison), HasSubstr("2.14.1 now"));
}

TEST(FailOn, TakesTheVerdictsAsWords) {
  EXPECT_THAT(
      parse_fail_on({"slower", "gone", "ambiguous", "new", "faster", "different_model", "more", "less", "fixed"}),
      ElementsAre(Change::slower, Change::gone, Change::ambiguous, Change::added, Change::faster, Change::other_model,
                  Change::more, Change::less, Change::fixed));
  EXPECT_EQ(default_fail_on_words(), "slower,gone,different_model");
  EXPECT_THROW(parse_fail_on({"slow"}), std::invalid_argument);
}

}  // namespace
}  // namespace torchstone::judge
