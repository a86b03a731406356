#include "reports/judge/tournament_ranking.h"

#include <cmath>

#include <gmock/gmock.h>

#include "reports/console/summary_text.h"

namespace torchstone::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Entrant entrant(const std::string& name, double seconds, double noise = 0.001) {
  Entrant e;
  e.name = name;
  e.ladder.outcome.status = Status::pass;
  for (int p = 0; p < 6; ++p) e.seconds.push_back(seconds * (1 + noise * (p % 2 == 0 ? 1 : -1) * (1 + p / 3)));
  return e;
}

Entrant setup(Entrant e, double start, double compile = 0, double error = 0, double bytes = 0) {
  e.start_s = start;
  if (compile > 0) e.compile_s = compile;
  e.error = error;
  if (bytes > 0) e.artifact_bytes = bytes;
  return e;
}

Tournament judged(std::vector<Entrant> entrants, double margin = 0.02) {
  Tournament tournament;
  tournament.options.margin = margin;
  judge_tournament(std::move(entrants), tournament);
  return tournament;
}

TEST(Tournament, TheOneThatIsSurelyFasterThanAllWins) {
  const auto t = judged({entrant("eager", 2), entrant("a", 1, 0.002), entrant("b", 1.5)});
  EXPECT_THAT(t.best, ElementsAre("a"));
  EXPECT_EQ(verdict_line(t), "winner a");
  EXPECT_EQ(t.standings.front().entrant.name, "a");
  EXPECT_NEAR(t.standings.front().speedup, 2, 0.01);
  EXPECT_LT(t.standings.front().speedup_low, t.standings.front().speedup);
  EXPECT_NEAR(t.standings.back().speedup, 1, 1e-12);
  EXPECT_EQ(t.processes, 6U);
  EXPECT_EQ(processes_words(t), "6");
}

TEST(Tournament, WithoutAWinnerTheSetThatTiesIsTheResult) {
  auto noisy = entrant("b", 1.05, 0.05);
  const auto t = judged({entrant("eager", 2), entrant("a", 1), noisy});
  EXPECT_THAT(t.best, ElementsAre("a", "b"));
  EXPECT_EQ(verdict_line(t), "2 tie: a, b");
}

TEST(Tournament, WhatIsSurelySlowerByLessThanTheMarginTies) {
  const std::vector<Entrant> entrants{entrant("eager", 2, 1e-5), entrant("a", 1, 1e-6), entrant("b", 1.01, 1e-6)};
  EXPECT_THAT(judged(entrants, 0.02).best, ElementsAre("a", "b"));
  EXPECT_THAT(judged(entrants, 0).best, ElementsAre("a"));
}

// The eliminated variant has times only of processes in which the machine was twice as fast.
TEST(Tournament, WhatLeftTheRaceIsComparedInTheProcessesThatItHas) {
  auto eager = entrant("eager", 2), a = entrant("a", 1), beaten = entrant("beaten", 1.5);
  for (auto* e : {&eager, &a})
    for (int p = 0; p < 6; ++p) e->seconds.push_back(2 * e->seconds[static_cast<size_t>(p)]);
  const auto t = judged({eager, a, beaten});
  EXPECT_THAT(t.best, ElementsAre("a"));
  EXPECT_EQ(t.processes, 12U);
  EXPECT_EQ(processes_words(t), "6 to 12");
  EXPECT_EQ(t.standings[1].entrant.name, "beaten");
  EXPECT_NEAR(t.standings[1].speedup, 2 / 1.5, 0.01);
  EXPECT_NEAR(t.standings[1].seconds, 1.5 * std::sqrt(2.0), 0.01);
  EXPECT_NEAR(t.standings[0].seconds, std::sqrt(2.0), 0.01);
}

TEST(Tournament, SeveralLooksShareTheError) {
  Tournament once, thrice;
  thrice.options.looks = 3;
  for (auto* t : {&once, &thrice})
    judge_tournament({entrant("eager", 2), entrant("a", 1, 0.01), entrant("b", 1.2, 0.01)}, *t);
  EXPECT_LT(thrice.standings[0].speedup_low, once.standings[0].speedup_low);
  EXPECT_GT(thrice.standings[0].speedup_high, once.standings[0].speedup_high);
}

TEST(Tournament, WhatIsOutHasNoPlaceAmongTheTimed) {
  auto wrong = entrant("wrong", 0.1);
  wrong.out = "the answer is wrong";
  wrong.status = Status::fail_accuracy;
  const auto t = judged({entrant("eager", 2), wrong, entrant("a", 1)});
  EXPECT_THAT(t.best, ElementsAre("a"));
  EXPECT_EQ(t.standings.back().entrant.name, "wrong");
  EXPECT_FALSE(t.standings.back().timed);
  EXPECT_TRUE(t.standings.back().red);
  EXPECT_FALSE(t.standings.back().on_front);
  for (const auto& advice : t.loaded) EXPECT_NE(advice.name, "wrong");
}

TEST(Tournament, WithoutEagerOrWithNothingElseThereIsNoRanking) {
  EXPECT_THAT(verdict_line(judged({entrant("a", 1), entrant("b", 2)})), HasSubstr("no ranking: eager was not timed"));
  EXPECT_THAT(verdict_line(judged({entrant("eager", 1)})), HasSubstr("only eager passed"));
  Tournament failed;
  failed.failure = "crash: SIGSEGV";
  Entrant eager = entrant("eager", 1);
  eager.seconds.clear();
  judge_tournament({eager}, failed);
  EXPECT_EQ(verdict_line(failed), "no ranking: crash: SIGSEGV");
  EXPECT_FALSE(failed.standings.front().red);
  EXPECT_THAT(failed.standings.front().entrant.out, HasSubstr("was not timed"));
}

TEST(Tournament, BreaksEvenWhenWhatIsSavedIsWhatItCostBefore) {
  const auto t = judged({setup(entrant("eager", 2), 1), setup(entrant("a", 1), 11, 100), setup(entrant("slow", 3), 0)});
  EXPECT_EQ(t.standings[0].entrant.name, "a");
  EXPECT_NEAR(t.standings[0].break_even_calls.value(), 10, 1);
  EXPECT_NEAR(t.standings[0].break_even_compiled_calls.value(), 110, 2);
  EXPECT_FALSE(t.standings[1].break_even_calls);  // eager itself
  EXPECT_FALSE(t.standings[2].break_even_calls);  // slower
}

TEST(Tournament, AdvisesTheCheapestForEachNumberOfCalls) {
  const auto t = judged({setup(entrant("eager", 4, 1e-9), 0), setup(entrant("script", 3, 1e-9), 10),
                         setup(entrant("package", 1, 1e-9), 50, 1000)});
  ASSERT_EQ(t.loaded.size(), 3U);
  EXPECT_EQ(t.loaded[0].name, "eager");
  EXPECT_EQ(t.loaded[0].from_calls, 1);
  EXPECT_EQ(t.loaded[1].name, "script");  // 4 n > 10 + 3 n
  EXPECT_NEAR(t.loaded[1].from_calls, 11, 1);
  EXPECT_EQ(t.loaded[2].name, "package");  // 10 + 3 n > 50 + n
  EXPECT_NEAR(t.loaded[2].from_calls, 21, 1);
  ASSERT_EQ(t.compiled.size(), 3U);
  EXPECT_NEAR(t.compiled[2].from_calls, 521, 1);
}

/// Expects that each variant, compared with eager alone, is advised from the call after its break-even on.
void expect_advice_after(const Tournament& t, const std::vector<Advice>& advice,
                         std::optional<double> Standing::*pays_after) {
  for (const Standing& s : t.standings) {
    if (s.entrant.name == "eager" || !(s.*pays_after)) continue;
    EXPECT_EQ(advice.back(), (Advice{*(s.*pays_after) + 1, s.entrant.name}));
  }
}

TEST(Tournament, PaysAfterTheCallsThatPrecedeItsAdvice) {
  for (const double start : {0.2, 1.0, 10.0, 10.7, 11.0, 400.5}) {
    const auto t = judged({setup(entrant("eager", 2, 1e-9), 1), setup(entrant("a", 1, 1e-9), start, 100)});
    ASSERT_TRUE(t.standings[0].break_even_calls && t.standings[0].break_even_compiled_calls) << start;
    expect_advice_after(t, t.loaded, &Standing::break_even_calls);
    expect_advice_after(t, t.compiled, &Standing::break_even_compiled_calls);
  }
}

TEST(Tournament, ThoseThatTiePayByTheTimeOfTheFastestAsInTheAdvice) {
  const auto t = judged({setup(entrant("eager", 2), 1), setup(entrant("a", 1), 11), setup(entrant("b", 1.01), 11)});
  ASSERT_EQ(t.best.size(), 2U);
  EXPECT_EQ(t.standings[0].break_even_calls, t.standings[1].break_even_calls);
}

TEST(Tournament, WithoutAKnownStartNothingPaysAndNothingIsAdvised) {
  const auto t = judged({setup(entrant("eager", 2), 1), entrant("a", 1)});
  EXPECT_FALSE(t.standings[0].break_even_calls);
  ASSERT_EQ(t.loaded.size(), 1U);
  EXPECT_EQ(t.loaded[0].name, "eager");
}

TEST(Tournament, AdvisesNothingIfMostProcessesWereDisturbed) {
  for (const size_t disturbed : {size_t{10}, size_t{11}}) {
    Tournament t;
    t.timed_processes = 20;
    t.disturbed = disturbed;
    auto a = setup(entrant("a", 1), 11, 100);
    a.command = "pack";
    judge_tournament({setup(entrant("eager", 2), 1), a}, t);
    EXPECT_THAT(t.best, ElementsAre("a")) << "the table stays";
    const bool advises = disturbed == 10;
    EXPECT_EQ(why_no_advice(t).empty(), advises);
    EXPECT_EQ(t.loaded.empty(), !advises);
    EXPECT_EQ(t.compiled.empty(), !advises);
    EXPECT_EQ(t.standings[0].break_even_calls.has_value(), advises);
    EXPECT_EQ(t.standings[0].entrant.command, "pack") << "how it is shipped does not depend on the times";
    EXPECT_THAT(verdict_line(t),
                HasSubstr(advises ? "winner a" : "no advice: 11 of 20 processes were disturbed. End other programs"));
  }
}

TEST(Tournament, CountsNoProcessAsQuietWhoseUseOfTheCpuIsUnknown) {
  Tournament t;
  t.timed_processes = 20;
  t.disturbed = 9;
  EXPECT_EQ(why_no_advice(t), "");
  t.unwatched = 10;
  EXPECT_THAT(why_no_advice(t), HasSubstr("9 of 10 processes were disturbed"));
  t.disturbed = 0;
  t.unwatched = 20;
  EXPECT_EQ(why_no_advice(t), "") << "a doubt reports that the use of the CPU is unknown";
}

TEST(Tournament, OfThoseThatTieTheOneThatStartsSoonestIsAdvised) {
  const auto t = judged({setup(entrant("eager", 4), 0), setup(entrant("a", 1), 50), setup(entrant("b", 1.001), 20)});
  EXPECT_EQ(t.loaded.back().name, "b");
}

TEST(Tournament, WhatIsNotSurelyFasterThanEagerIsNeverAdvised) {
  const auto t = judged({setup(entrant("eager", 1), 0.1), setup(entrant("a", 0.95, 0.06), 0)});
  ASSERT_EQ(t.loaded.size(), 1U);
  EXPECT_EQ(t.loaded[0].name, "eager");
}

TEST(Front, HoldsWhatNothingElseIsBetterThan) {
  const auto t =
      judged({setup(entrant("eager", 2), 1), setup(entrant("good", 1), 5, 10, 1e-7, 100),
              setup(entrant("worse", 1.5), 5, 10, 1e-7, 100), setup(entrant("exact", 1.6), 5, 10, 1e-9, 90)});
  std::map<std::string, bool> on;
  for (const auto& s : t.standings) on[s.entrant.name] = s.on_front;
  EXPECT_TRUE(on["eager"]);  // needs no compile and no package
  EXPECT_TRUE(on["good"]);
  EXPECT_FALSE(on["worse"]);
  EXPECT_TRUE(on["exact"]);  // closest to float64
}

// With margins alone, each variant would be worse than another one, and the front would be empty.
TEST(Front, IsNeverEmpty) {
  const auto of = [](const char* name, double seconds, double error, double bytes, double start) {
    auto e = entrant(name, seconds, 1e-6);
    e.error = error;
    e.peak_bytes = bytes;
    e.start_s = start;
    return e;
  };
  const auto t = judged(
      {of("eager", 2, 2, 2, 2), of("a", 1, 0.85, 0.9925, 1), of("b", 1, 1, 0.985, 0.88), of("c", 1, 0.92, 1, 0.78)});
  std::map<std::string, bool> on;
  for (const auto& s : t.standings) on[s.entrant.name] = s.on_front;
  EXPECT_TRUE(on["a"] && on["b"] && on["c"]);
  EXPECT_FALSE(on["eager"]);
}

TEST(Front, WhatIsNotKnownIsNeitherBetterNorWorse) {
  const auto with_memory = [](Entrant e, std::optional<double> bytes) {
    e.peak_bytes = bytes;
    return e;
  };
  const auto t = judged({with_memory(entrant("eager", 2), 100), with_memory(entrant("a", 1), std::nullopt),
                         with_memory(entrant("b", 1.5), std::nullopt)});
  std::map<std::string, bool> on;
  for (const auto& s : t.standings) on[s.entrant.name] = s.on_front;
  EXPECT_TRUE(on["a"]);
  EXPECT_FALSE(on["eager"]) << "slower, and not known to need less memory";
  EXPECT_FALSE(on["b"]) << "unknown memory is not the least memory";
}

TEST(Tournament, OfOneProcessSaysThatItTellsNothingApart) {
  auto eager = entrant("eager", 2), other = entrant("a", 1);
  eager.seconds.resize(1);
  other.seconds.resize(1);
  const auto t = judged({eager, other});
  EXPECT_EQ(t.best.size(), 2U);
  EXPECT_THAT(t.doubts, ElementsAre(HasSubstr("A single process has no spread")));
}

TEST(Front, NoiseOfACriterionMakesNobodyBetter) {
  const auto t = judged({setup(entrant("eager", 2), 9), setup(entrant("a", 1), 5, 10, 1e-7, 100),
                         setup(entrant("b", 1.001), 4.5, 9, 1.05e-7, 100)});
  EXPECT_TRUE(t.standings[0].on_front && t.standings[1].on_front);
}

using testing::IsEmpty;

constexpr const char* budget = "cosine similarity of at least 0.99: quantised weights are not eager's";

Entrant timed_variant(const std::string& name, double seconds, const char* judged_by = nullptr) {
  Entrant e;
  e.name = name;
  e.ladder.outcome.status = Status::pass;
  if (judged_by) {
    e.ladder.outcome.notes["judged_by"] = judged_by;
    e.ladder.outcome.metrics["quantized_operators"] = 1;
  }
  for (int p = 0; p < 6; ++p) e.seconds.push_back(seconds * (1 + 0.0001 * p));
  return e;
}

std::vector<std::string> doubts_beside(std::vector<Entrant> entrants) {
  Tournament tournament;
  judge_tournament(std::move(entrants), tournament);
  return doubts_of_quantised(tournament.standings);
}

TEST(DoubtsOfQuantised, AmongTheFastestAreNamedWithTheirBudgetAndBesideTheFastestOther) {
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3), timed_variant("inductor", 2),
                             timed_variant("inductor:quantization=pt2e", 1, budget)}),
              ElementsAre(std::string("inductor:quantization=pt2e is judged by ") + budget + ".",
                          "The fastest that is not quantised is inductor."));
}

TEST(DoubtsOfQuantised, ThatAreSlowerAreNamedWithTheirBudgetAlone) {
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3), timed_variant("inductor", 1),
                             timed_variant("inductor:quantization=pt2e", 2, budget)}),
              ElementsAre(std::string("inductor:quantization=pt2e is judged by ") + budget + "."));
}

TEST(DoubtsOfQuantised, ThatWereNotTimedAndAllOthersHaveNoDoubt) {
  Entrant out = timed_variant("inductor:quantization=pt2e", 1, budget);
  out.seconds.clear();
  out.out = "wrong";
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3), timed_variant("inductor", 1), out}), IsEmpty());
  EXPECT_THAT(doubts_beside({timed_variant("eager", 3)}), IsEmpty());
}

using testing::AllOf;
using testing::SizeIs;

Tournament held(const std::string& sweep, int batch_size, double compiled_s) {
  Tournament tournament;
  tournament.title = sweep + "_batch_size_" + std::to_string(batch_size);
  tournament.sweep = sweep;
  tournament.facts = {{"batch_size", std::to_string(batch_size)}};
  Entrant eager, compiled;
  eager.name = "eager";
  compiled.name = "compiled";
  eager.ladder.outcome.status = compiled.ladder.outcome.status = Status::pass;
  for (const double noise : {1.0, 1.001, 0.999, 1.0005}) {
    eager.seconds.push_back(2e-3 * noise);
    compiled.seconds.push_back(compiled_s * noise);
  }
  if (compiled_s == 0) compiled.out = "it crashed";
  if (compiled_s == 0) compiled.ladder.outcome.status = Status::crash;
  judge_tournament({eager, compiled}, tournament);
  return tournament;
}

TEST(Sweep, HasARowForEachCombinationWithTheFastest) {
  auto other = held("b", 1, 1e-3);
  other.facts["threads"] = "2";
  auto alone = held("", 1, 1e-3);
  const auto sweeps = group_sweeps({held("a", 1, 1e-3), other, held("a", 8, 4e-3), alone, held("a", 16, 0)});
  ASSERT_THAT(sweeps, SizeIs(2));
  EXPECT_EQ(sweeps[0].title, "a");
  ASSERT_THAT(sweeps[0].rows, SizeIs(3));
  const auto& [one, eight, none] = std::tie(sweeps[0].rows[0], sweeps[0].rows[1], sweeps[0].rows[2]);
  EXPECT_THAT(one.fastest, ElementsAre("compiled"));
  EXPECT_EQ(one.threads, "-");
  EXPECT_NEAR(one.speedup, 2, 0.01);
  EXPECT_NEAR(one.samples_per_s, 1000, 5);
  EXPECT_THAT(eight.fastest, ElementsAre("eager"));
  EXPECT_EQ(eight.speedup, 1);
  EXPECT_NEAR(eight.samples_per_s, 4000, 20);
  EXPECT_THAT(none.fastest, testing::IsEmpty());
  EXPECT_EQ(fastest_words(none), "no ranking: " + none.failure);
  EXPECT_EQ(none.seconds, 0);
  EXPECT_EQ(sweeps[1].rows.at(0).threads, "2");
}

TEST(Sweep, MarksACombinationWhoseProcessesWereDisturbed) {
  auto disturbed = held("a", 1, 1e-3);
  disturbed.timed_processes = disturbed.disturbed = 4;
  const auto row = group_sweeps({disturbed}).at(0).rows.at(0);
  EXPECT_TRUE(row.disturbed);
  EXPECT_THAT(row.fastest, ElementsAre("compiled"));
  EXPECT_EQ(fastest_words(row), "compiled (most processes were disturbed)");
}

TEST(SweepText, IsATableWithADashForWhatHasNoRanking) {
  const auto sweeps = group_sweeps({held("a", 1, 1e-3), held("a", 16, 0)});
  EXPECT_THAT(console::sweep_text(sweeps.at(0)),
              AllOf(HasSubstr("The fastest of a\n"), HasSubstr("compiled\n"), HasSubstr("no ranking: ")));
}

}  // namespace
}  // namespace torchstone::judge
