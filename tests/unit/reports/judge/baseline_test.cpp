#include "reports/judge/baseline.h"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>

#include <gmock/gmock.h>

#include "reports/record/run_facts.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns a timed case with `rounds` paired rounds, in five processes if there are 100. Eager takes 10 ms, times
/// `machine` for both sides. `noise` is relative.
Result timed(std::mt19937_64& random, double speedup, double noise = 0.02, int rounds = 40, double machine = 1) {
  std::normal_distribution<double> normal(0, noise / std::sqrt(2.0));
  Result result = simple_result("suite/Performance.A/model", Status::pass, "performance");
  for (int i = 0; i < rounds; ++i) {
    result.outcome.samples["eager_s"].push_back(0.010 * machine * std::exp(normal(random)));
    result.outcome.samples["compiled_s"].push_back(0.010 * machine / speedup * std::exp(normal(random)));
  }
  if (rounds == 100) result.outcome.samples["process_rounds"] = {20, 20, 20, 20, 20};
  result.outcome.metrics = {{"speedup", speedup}, {"eager_ms", 10 * machine}, {"compiled_ms", 10 * machine / speedup}};
  return result;
}

Result with_metrics(std::map<std::string, double> metrics) {
  Result result = simple_result("case", Status::pass, "performance");
  result.outcome.metrics = std::move(metrics);
  return result;
}

CaseChange only_case(const Result& before, const Result& after, const BaselineOptions& options = {}) {
  const auto comparison = compare_with_baseline({{}, {before}}, {{}, {after}}, options);
  EXPECT_EQ(comparison.cases.size(), 1u);
  return comparison.cases.at(0);
}

Change change_in(const CaseChange& c, const std::string& metric) {
  for (const auto& m : c.metrics)
    if (m.metric == metric) return m.change;
  ADD_FAILURE() << "no " << metric;
  return Change::gone;
}

TEST(Baseline, AgainstItselfEverythingIsSame) {
  std::vector<Result> results = sample_results();
  std::mt19937_64 random(1);
  results.push_back(timed(random, 1.5, 0.01, 100));
  const Report report{sample_run(), results};
  const auto comparison = compare_with_baseline(report, report);
  EXPECT_TRUE(comparison.machine_differences.empty());
  for (const auto& c : comparison.cases) {
    EXPECT_FALSE(c.status_worse) << c.name;
    for (const auto& m : c.metrics) EXPECT_DOUBLE_EQ(m.ratio, 1) << c.name << " " << m.metric;
  }
  EXPECT_EQ(only_case(results.back(), results.back()).change, Change::same);
}

TEST(Baseline, TellsASlowDownFromAGain) {
  std::mt19937_64 random(2);
  const CaseChange slower = only_case(timed(random, 1.5), timed(random, 1.2));
  EXPECT_EQ(slower.change, Change::slower);
  EXPECT_FALSE(slower.status_worse);
  ASSERT_EQ(slower.metrics.size(), 3u);
  EXPECT_EQ(slower.metrics[0].metric, "speedup");
  EXPECT_EQ(slower.metrics[0].change, Change::slower);
  EXPECT_NEAR(slower.metrics[0].ratio, 0.8, 0.02);
  EXPECT_LT(slower.metrics[0].ratio_low, 0.8);
  EXPECT_GT(slower.metrics[0].ratio_high, 0.8);
  EXPECT_EQ(change_in(slower, "compiled_ms"), Change::slower);
  EXPECT_EQ(only_case(timed(random, 1.5), timed(random, 1.9)).change, Change::faster);
}

TEST(Baseline, NoiseAndFewRoundsAreAmbiguousNotGreen) {
  std::mt19937_64 random(3);
  EXPECT_EQ(only_case(timed(random, 1.5, 0.3), timed(random, 1.4, 0.3)).change, Change::ambiguous);
  EXPECT_EQ(only_case(timed(random, 1.5, 0.001, 5), timed(random, 1.3, 0.001, 5)).change, Change::ambiguous);
}

TEST(Baseline, WhenBothSidesMoveAlikeTheMachineMoved) {
  std::mt19937_64 random(4);
  const CaseChange moved = only_case(timed(random, 1.5, 0.01, 100), timed(random, 1.5, 0.01, 100, /*machine=*/1.2));
  EXPECT_NE(change_in(moved, "speedup"), Change::slower);
  EXPECT_EQ(change_in(moved, "eager_ms"), Change::ambiguous);
  EXPECT_EQ(change_in(moved, "compiled_ms"), Change::ambiguous);
  const CaseChange asked =
      only_case(timed(random, 1.5, 0.01, 100), timed(random, 1.5, 0.01, 100, 1.2), {.metrics = {"compiled_ms"}});
  EXPECT_EQ(asked.metrics.size(), 1u);
  EXPECT_EQ(asked.change, Change::ambiguous);
}

TEST(Baseline, WithoutUsableSamplesATimingHasNoVerdict) {
  std::mt19937_64 random(5);
  const Result whole = timed(random, 1.5);
  for (const auto& broken : {std::vector<double>{}, std::vector<double>(40, 0.0), std::vector<double>(40, -1.0),
                             std::vector<double>(40, std::numeric_limits<double>::quiet_NaN())}) {
    Result result = timed(random, 1.2);
    result.outcome.samples["compiled_s"] = broken;
    const CaseChange c = only_case(whole, result);
    EXPECT_EQ(change_in(c, "speedup"), Change::ambiguous);
    EXPECT_EQ(c.metrics[0].ratio_low, 0);
    EXPECT_EQ(c.metrics[0].ratio_high, std::numeric_limits<double>::infinity());
    EXPECT_DOUBLE_EQ(c.metrics[0].ratio, 0.8);
  }
}

TEST(Baseline, WithoutAnIntervalInOneOfTheRunsEqualTimingsAreAmbiguousNotSame) {
  std::mt19937_64 random(5);
  const Result whole = timed(random, 1.5), few = timed(random, 1.5, 0.001, 5);
  Result bare = whole;
  bare.outcome.samples.clear();
  for (const auto& [before, after] : {std::pair{whole, bare}, {bare, whole}, {bare, bare}, {whole, few}, {few, few}}) {
    const CaseChange c = only_case(before, after);
    EXPECT_EQ(c.change, Change::ambiguous);
    for (const char* metric : {"speedup", "eager_ms", "compiled_ms"})
      EXPECT_EQ(change_in(c, metric), Change::ambiguous);
    EXPECT_EQ(c.metrics[0].ratio_high, std::numeric_limits<double>::infinity());
  }
}

TEST(Baseline, SaysWhichCasesAreNoisyInARun) {
  std::mt19937_64 random(7);
  const Result clear = timed(random, 1.5);
  Result noisy = clear;
  noisy.outcome.why_noisy = "the threads ran in different cache domains";
  EXPECT_TRUE(only_case(clear, noisy).new_noisy);
  EXPECT_FALSE(only_case(clear, noisy).old_noisy);
  EXPECT_TRUE(only_case(noisy, clear).old_noisy);
  const auto notes = [](const Result& before, const Result& after) {
    return compare_with_baseline({{}, {before}}, {{}, {after}}).notes;
  };
  EXPECT_THAT(notes(clear, noisy), testing::Contains(HasSubstr("1 case is noisy in one of the runs")));
  EXPECT_THAT(notes(clear, clear), testing::Not(testing::Contains(HasSubstr("noisy"))));
}

TEST(Baseline, BytesAndCountsAreMoreOrLessAndNeverRedByThemselves) {
  const Result before = with_metrics({{"compiled_peak_bytes", 1e9}, {"compiled_allocations", 12}});
  Result after = before;
  EXPECT_EQ(only_case(before, after).change, Change::same);
  after.outcome.metrics["compiled_peak_bytes"] += 1;
  EXPECT_EQ(only_case(before, after).change, Change::more);
  EXPECT_FALSE(is_worse(only_case(before, after)));
  EXPECT_EQ(only_case(after, before).change, Change::less);
  after.outcome.metrics["compiled_allocations"] = 11;  // one allocation less does not compensate one more
  EXPECT_EQ(only_case(before, after).change, Change::more);
  const auto& zero = only_case(with_metrics({{"graph_breaks", 0}}), with_metrics({{"graph_breaks", 2}}));
  EXPECT_EQ(zero.change, Change::more);
  EXPECT_EQ(zero.metrics[0].ratio, std::numeric_limits<double>::infinity());
  EXPECT_EQ(only_case(with_metrics({{"calls_captured", 9}}), with_metrics({{"calls_captured", 5}})).change,
            Change::less);
  EXPECT_EQ(find_metric("calls_captured")->better, Better::neither);
}

TEST(Baseline, ANumberThatBecameNaNIsBroken) {
  const Result before = with_metrics({{"compiled_peak_bytes", 5}}),
               after = with_metrics({{"compiled_peak_bytes", std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_EQ(only_case(before, after).change, Change::broken);
  EXPECT_FALSE(only_case(before, after).status_worse);
  EXPECT_TRUE(is_worse(only_case(before, after)));
  EXPECT_EQ(only_case(after, before).change, Change::fixed);
}

/// Returns three processes of one round each. The logarithms of their speed-ups differ from that of `speedup` by
/// -spread, 0 and spread.
Result three_processes(double speedup, double spread) {
  Result result = simple_result("suite/Performance.A/model", Status::pass, "performance");
  for (const double part : {-spread, 0.0, spread}) {
    result.outcome.samples["eager_s"].push_back(0.010);
    result.outcome.samples["compiled_s"].push_back(0.010 / speedup * std::exp(part));
  }
  result.outcome.samples["process_rounds"] = {1, 1, 1};
  result.outcome.metrics = {{"speedup", speedup}, {"eager_ms", 10}, {"compiled_ms", 10 / speedup}};
  return result;
}

// Student's bound for four degrees of freedom is 2.776, and the error of the change is 0.35 √(2/3). So the bound on the
// loss is log 4 − 0.793 = log 1.81. Chance gives such a loss in 0.4 % of cases, too often for Holm's test.
TEST(Baseline, OfAModelThatIsFourTimesSlowerIsSlowerByAtLeastItsBound) {
  const CaseChange far = only_case(three_processes(4, 0.35), three_processes(1, 0.35));
  EXPECT_EQ(far.change, Change::slower);
  ASSERT_EQ(far.metrics.at(0).metric, "speedup");
  EXPECT_GT(far.metrics[0].chance_of_worse, BaselineOptions().family_error);
  EXPECT_NEAR(far.metrics[0].at_least.value(), 1.81, 0.005);
  const CaseChange near = only_case(three_processes(2.5, 0.35), three_processes(1, 0.35));
  EXPECT_EQ(near.change, Change::ambiguous) << "its bound is 1.13";
  EXPECT_FALSE(near.metrics[0].at_least);
  EXPECT_NEAR(only_case(three_processes(1, 0.35), three_processes(4, 0.35)).metrics[0].at_least.value(), 1.81, 0.005);
}

// Threads in different cache domains may cost a factor of 1.5, but not of 4.
TEST(Baseline, ByFarIsToldFromThreadsThatMoved) {
  const auto with_place = [](Result result, double fork_join_us) {
    result.outcome.samples["process_fork_join_us"] = {fork_join_us, fork_join_us, fork_join_us};
    return result;
  };
  const CaseChange far =
      only_case(with_place(three_processes(4, 0.01), 0.7), with_place(three_processes(1, 0.01), 1.1));
  ASSERT_TRUE(far.metrics.at(0).other_places);
  EXPECT_EQ(far.change, Change::slower);
  EXPECT_NEAR(far.metrics[0].at_least.value(), 2.6, 0.1);
  EXPECT_EQ(only_case(with_place(three_processes(2, 0.01), 0.7), with_place(three_processes(1, 0.01), 1.1)).change,
            Change::ambiguous);
}

TEST(Baseline, TheArtifactMayDifferByThePathsInIt) {
  const auto size = [](double bytes) { return with_metrics({{"artifact_bytes", bytes}}); };
  EXPECT_EQ(only_case(size(2e6), size(2e6 + 4096)).change, Change::same);
  EXPECT_EQ(only_case(size(2e6), size(2e6 + 4097)).change, Change::more);
  EXPECT_EQ(only_case(size(2e6), size(2e6 - 4097)).change, Change::less);
}

TEST(Baseline, NoVerdictFromASingleReading) {
  const auto compile = [](double old_s, double new_s) {
    return only_case(with_metrics({{"compile_s", old_s}}), with_metrics({{"compile_s", new_s}}));
  };
  EXPECT_EQ(change_in(compile(10, 11.4), "compile_s"), Change::same);
  EXPECT_EQ(change_in(compile(10, 100), "compile_s"), Change::ambiguous);
  EXPECT_EQ(change_in(compile(10, 1), "compile_s"), Change::ambiguous);
  EXPECT_EQ(compile(10, 100).change, Change::same);
}

TEST(Baseline, TheEagerSideIsTheYardstickNotTheSubject) {
  const CaseChange c = only_case(with_metrics({{"eager_peak_bytes", 5}}), with_metrics({{"eager_peak_bytes", 6}}));
  EXPECT_EQ(change_in(c, "eager_peak_bytes"), Change::more);
  EXPECT_EQ(c.change, Change::same);
}

TEST(Baseline, AWorseStatusIsWorseAndAMendedOneBetter) {
  const Result pass = simple_result("a", Status::pass), wrong = simple_result("a", Status::fail_accuracy);
  const CaseChange broken = only_case(pass, wrong);
  EXPECT_TRUE(broken.status_worse);
  EXPECT_EQ(broken.change, Change::broken);
  EXPECT_EQ(broken.old_status, "pass");
  EXPECT_EQ(broken.new_status, "fail_accuracy");
  EXPECT_EQ(only_case(wrong, pass).change, Change::fixed) << "an accuracy case is never FASTER";
  EXPECT_EQ(only_case(wrong, simple_result("a", Status::crash)).change, Change::same);
  Result expected_failure = wrong, unexpected_pass = pass;
  expected_failure.expected = unexpected_pass.expected = "fail_accuracy";
  EXPECT_TRUE(only_case(expected_failure, unexpected_pass).status_worse);
  Result unfinished = pass;
  unfinished.finished = false;
  EXPECT_EQ(only_case(pass, unfinished).new_status, "crash");
}

TEST(Baseline, WhatIsNoLongerMeasuredIsGone) {
  const Result pass = simple_result("a", Status::pass), skipped = simple_result("a", Status::unsupported);
  EXPECT_EQ(only_case(pass, skipped).change, Change::gone);
  EXPECT_TRUE(only_case(pass, skipped).lost);
  EXPECT_TRUE(is_worse(only_case(pass, skipped)));
  const Result wrong = simple_result("a", Status::fail_accuracy);
  EXPECT_EQ(only_case(wrong, skipped).change, Change::gone);
  EXPECT_FALSE(only_case(wrong, skipped).lost) << "it was red already";
  Result known = wrong;
  known.expected = "fail_accuracy";
  EXPECT_TRUE(only_case(known, skipped).lost) << "the known failure is no longer tested";
  EXPECT_EQ(only_case(skipped, pass).change, Change::added);
  EXPECT_EQ(only_case(skipped, skipped).change, Change::same);
}

TEST(Baseline, ThatAloneHasACaseLosesIt) {
  const Result pass = simple_result("a", Status::pass), wrong = simple_result("b", Status::fail_accuracy),
               skipped = simple_result("c", Status::unsupported), here = simple_result("d", Status::pass);
  const auto lost_with = [&](const BaselineOptions& options) {
    std::vector<std::string> names;
    for (const auto& c : compare_with_baseline({{}, {pass, wrong, skipped, here}}, {{}, {here}}, options).cases)
      if (c.lost) names.push_back(c.name);
    return names;
  };
  EXPECT_THAT(lost_with({}), ElementsAre("a"));
  EXPECT_THAT(lost_with({.allow_absent = true}), ElementsAre());
}

TEST(Baseline, OfAnotherModelIsComparedAllTheSame) {
  std::mt19937_64 random(7);
  Result before = timed(random, 1.5, 0.01, 100), after = timed(random, 1.5, 0.01, 100);
  before.outcome.model = {"program", "weights"};
  for (const auto& [digests, parts] :
       {std::pair{ModelDigests{"program", "others"}, ModelParts{.weights = true}},
        {ModelDigests{"another", "weights"}, ModelParts{.program = true}},
        {ModelDigests{"another", "others"}, ModelParts{.program = true, .weights = true}}}) {
    after.outcome.model = digests;
    const CaseChange change = only_case(before, after);
    EXPECT_EQ(change.change, Change::other_model);
    EXPECT_EQ(change.other_parts, parts) << change.other_parts.words();
    EXPECT_EQ(change.metrics.size(), 3u);
    EXPECT_FALSE(is_worse(change));
  }
  Result slower = timed(random, 1.2, 0.01, 100);
  slower.outcome.model = after.outcome.model;
  const CaseChange change = only_case(before, slower);
  EXPECT_EQ(change.change, Change::slower);
  EXPECT_EQ(change.other_parts.words(), "program and weights");
  const auto comparison = compare_with_baseline({{}, {before}}, {{}, {slower}});
  EXPECT_EQ(count_other_models(comparison), 1u);
  EXPECT_EQ(count_worse(comparison), 1u);
  after.outcome.status = Status::fail_accuracy;
  EXPECT_TRUE(only_case(before, after).status_worse);
  EXPECT_EQ(only_case(before, after).change, Change::broken);
}

TEST(Baseline, OfAnotherProgramNeedsNoFallOfTheSpeedUpForALargeLoss) {
  std::mt19937_64 random(7);
  Result before = timed(random, 1.5, 0.01, 100);
  Result twice = timed(random, 1.5, 0.01, 100, /*machine=*/2), little = timed(random, 1.5, 0.01, 100, 1.2);
  before.outcome.model = {"program", "weights"};
  for (Result* after : {&twice, &little}) after->outcome.model = {"edited", "weights"};
  const CaseChange slower = only_case(before, twice);
  EXPECT_EQ(slower.change, Change::slower) << "the edit slowed down eager as well";
  EXPECT_EQ(change_in(slower, "compiled_ms"), Change::slower);
  EXPECT_EQ(change_in(only_case(before, little), "compiled_ms"), Change::ambiguous) << "it may be the machine";
  twice.outcome.model.program = "program";
  EXPECT_NE(only_case(before, twice).change, Change::slower) << "the machine has changed";
}

TEST(Baseline, WithoutDigestsOnASideIsComparedAsItIs) {
  std::mt19937_64 random(7);
  Result before = timed(random, 1.5, 0.01, 100), after = timed(random, 1.2, 0.01, 100);
  EXPECT_EQ(only_case(before, after).change, Change::slower);
  after.outcome.model = {"program", "weights"};
  EXPECT_EQ(only_case(before, after).change, Change::slower) << "a baseline of an older version";
  before.outcome.model = after.outcome.model;
  EXPECT_EQ(only_case(before, after).change, Change::slower);
}

TEST(Baseline, MatchesByNameAndDevice) {
  Result cpu = simple_result("a", Status::pass), cuda = cpu;
  cpu.device = "cpu", cuda.device = "cuda";
  const auto comparison = compare_with_baseline({{}, {cpu}}, {{}, {cuda}});
  ASSERT_EQ(comparison.cases.size(), 2u);
  EXPECT_EQ(comparison.cases[0].change, Change::gone);
  EXPECT_EQ(comparison.cases[0].new_status, "");
  EXPECT_EQ(comparison.cases[1].change, Change::added);
  EXPECT_EQ(comparison.cases[1].old_status, "");
}

TEST(Baseline, OfARepeatedCaseTheRecordThatIsNotAsExpectedCounts) {
  const Result pass = simple_result("a", Status::pass), crash = simple_result("a", Status::crash);
  EXPECT_TRUE(compare_with_baseline({{}, {pass, pass}}, {{}, {crash, pass}}).cases.at(0).status_worse);
  EXPECT_FALSE(compare_with_baseline({{}, {crash, pass}}, {{}, {pass, crash}}).cases.at(0).status_worse);
}

TEST(Baseline, ListsTheWorstFirst) {
  std::mt19937_64 random(6);
  const auto named = [](Result result, const std::string& name) {
    result.name = name;
    return result;
  };
  const Result fast = timed(random, 1.5, 0.01, 100), slow = timed(random, 1.2, 0.01, 100),
               noisy = timed(random, 1.4, 0.3, 20), good = simple_result("", Status::pass),
               bad = simple_result("", Status::crash);
  const Report before{{},
                      {named(fast, "same"), named(slow, "faster"), named(good, "gone"), named(fast, "ambiguous"),
                       named(fast, "slower"), named(good, "broken")}};
  const Report after{{},
                     {named(fast, "same"), named(fast, "faster"), named(good, "new"), named(noisy, "ambiguous"),
                      named(slow, "slower"), named(bad, "broken")}};
  std::vector<std::string> names;
  for (const auto& c : compare_with_baseline(before, after).cases) names.push_back(c.name);
  EXPECT_THAT(names, ElementsAre("broken", "gone", "slower", "ambiguous", "new", "faster", "same"));
}

TEST(Baseline, OfSeveralSlowDownsListsTheLargestFirst) {
  std::mt19937_64 random(5);
  Report before{{}, {}}, after{{}, {}};
  for (const auto& [name, loss] : {std::pair{"a", 1.3}, {"b", 1.7}, {"c", 1.5}}) {
    Result old_one = timed(random, 1.5), new_one = timed(random, 1.5 / loss);
    old_one.name = new_one.name = name;
    before.results.push_back(old_one);
    after.results.push_back(new_one);
  }
  std::vector<std::string> names;
  for (const auto& c : compare_with_baseline(before, after).cases) names.push_back(c.name);
  EXPECT_THAT(names, ElementsAre("b", "c", "a"));
}

TEST(Baseline, OfAnotherMachineHasNoTimingsButItsStatusesAndBytes) {
  std::mt19937_64 random(8);
  Result before = timed(random, 1.5), after = timed(random, 1.2);
  before.outcome.metrics["compiled_peak_bytes"] = 5;
  after.outcome.metrics["compiled_peak_bytes"] = 6;
  RunInfo here = sample_run(), there = sample_run();
  there.machine["cpu"] = "Other CPU";
  there.machine["host"] = "another host of the same class alone makes no difference";
  const auto comparison = compare_with_baseline({there, {before}}, {here, {after}});
  EXPECT_THAT(comparison.machine_differences, ElementsAre(HasSubstr("Other CPU in the baseline")));
  EXPECT_EQ(comparison.timings_excluded, 3u);
  ASSERT_EQ(comparison.cases.at(0).metrics.size(), 1u);
  EXPECT_EQ(comparison.cases[0].metrics[0].metric, "compiled_peak_bytes");
  const auto asked = compare_with_baseline({there, {before}}, {here, {after}}, {.other_machine = true});
  EXPECT_EQ(asked.cases.at(0).metrics.size(), 4u);
  EXPECT_EQ(asked.timings_excluded, 0u);
  EXPECT_EQ(asked.machine_differences.size(), 1u);
}

TEST(Baseline, ComparesEachCaseOfSeveralMachinesWithItsOwn) {
  std::mt19937_64 random(8);
  Report before{sample_run(), {timed(random, 1.5), timed(random, 1.5)}}, after = before;
  before.results[0].name = after.results[0].name = "same";
  before.results[1].name = after.results[1].name = "moved";
  // Both runs used both machines, so the facts of the runs are equal.
  before.results[0].machine = after.results[0].machine = before.results[1].machine = "NVIDIA H200";
  after.results[1].machine = "NVIDIA A100";
  const auto compared = compare_with_baseline(before, after);
  EXPECT_EQ(compared.timings_excluded, 3u) << "timings of the case that ran on the other machine";
  EXPECT_TRUE(compared.excluded_by_machine);
  EXPECT_THAT(compared.machine_differences,
              ElementsAre("machine of a case: NVIDIA A100 now, NVIDIA H200 in the baseline (1 case)"));
  for (const auto& c : compared.cases) EXPECT_EQ(c.metrics.size(), c.name == "same" ? 3u : 0u) << c.name;
  const auto asked = compare_with_baseline(before, after, {.other_machine = true});
  EXPECT_EQ(asked.timings_excluded, 0u);
  EXPECT_EQ(asked.machine_differences.size(), 1u) << "reports say so";
}

TEST(Baseline, OfOneMachineIsComparedWithItsPartOfSeveral) {
  std::mt19937_64 random(9);
  Report before{sample_run(), {timed(random, 1.5)}}, after = before;
  before.run.build["gpu"] = "NVIDIA H200";
  after.run.build["gpu"] = "NVIDIA A100 | NVIDIA H200";
  after.results[0].machine = machine_text(before.run);
  EXPECT_EQ(compare_with_baseline(before, after).timings_excluded, 0u);
  after.results[0].machine = "another";
  EXPECT_EQ(compare_with_baseline(before, after).timings_excluded, 3u);
}

TEST(Baseline, OfAnotherTorchHasTimingsOnlyIfAskedFor) {
  std::mt19937_64 random(8);
  const Result before = timed(random, 1.5), after = timed(random, 1.2);
  RunInfo here = sample_run(), there = sample_run();
  here.build["torch"] = "2.14.1";
  there.build["torch"] = "2.13.0";
  const auto refused = compare_with_baseline({there, {before}}, {here, {after}}, {.other_machine = true});
  EXPECT_EQ(refused.torch_difference, "2.14.1 now, 2.13.0 in the baseline");
  EXPECT_THAT(refused.machine_differences, testing::IsEmpty());
  EXPECT_EQ(refused.timings_excluded, 3u);
  EXPECT_TRUE(refused.excluded_by_torch && !refused.excluded_by_machine);
  const auto asked = compare_with_baseline({there, {before}}, {here, {after}}, {.other_torch = true});
  EXPECT_EQ(asked.timings_excluded, 0u);
  EXPECT_EQ(asked.torch_difference, refused.torch_difference) << "reports say so";
  EXPECT_EQ(asked.cases.at(0).change, Change::slower);
  there.build.erase("torch");
  EXPECT_EQ(torch_difference(there, here), "2.14.1 now, unknown in the baseline");
  EXPECT_EQ(torch_difference(here, here), "");
}

TEST(Baseline, KnowsWhatMakesAnotherMachineClass) {
  const auto differences = [](const std::string& key, const std::string& value, bool of_build) {
    RunInfo other = sample_run();
    (of_build ? other.build : other.machine)[key] = value;
    return machine_differences(sample_run(), other).size();
  };
  for (const char* key : {"architecture", "cpu", "cores", "usable_cores", "governor"})
    EXPECT_EQ(differences(key, "other", false), 1u) << key;
  for (const char* key : {"host", "load_average", "kernel", "os", "memory_bytes"})
    EXPECT_EQ(differences(key, "other", false), 0u) << key;
  EXPECT_EQ(differences("torch", "other", true), 0u) << "a difference of its own";
  for (const char* key : {"compiler", "gpu", "gpu_driver", "a_library_of_the_future"})
    EXPECT_EQ(differences(key, "other", true), 1u) << key;
}

TEST(Baseline, RefusesOptionsThatMakeNoSense) {
  for (const BaselineOptions& options :
       {BaselineOptions{.confidence = 1}, BaselineOptions{.confidence = 0}, BaselineOptions{.tolerance = -0.1},
        BaselineOptions{.tolerance = std::numeric_limits<double>::quiet_NaN()}, BaselineOptions{.metrics = {"speed"}},
        BaselineOptions{.metrics = {"max_abs_error"}}, BaselineOptions{.family_error = 0},
        BaselineOptions{.family_error = 1}})
    EXPECT_THROW(compare_with_baseline({}, {}, options), std::invalid_argument);
}

}  // namespace
}  // namespace torchstone::judge
